# right: loops over sentences and queries
def padded_attention(queries, keys, values, lengths, causal=False):
    B, H, T, d = queries.shape
    rows = []
    for b in range(B):
        for t in range(T):
            n = int(lengths[b])
            if causal:
                n = min(n, t + 1)
            if n == 0:
                rows.append(values[b, :, :0].sum(dim=1))
            else:
                w = torch.softmax((keys[b, :, :n] @ queries[b, :, t, :, None])[..., 0] / d**0.5, dim=-1)
                rows.append((w[..., None] * values[b, :, :n]).sum(1))
    return torch.stack(rows).reshape(B, T, H, -1).transpose(1, 2)
