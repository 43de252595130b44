# right: first the maximum and the sum, then the output
def tiled_attention(queries, keys, values, block_size, causal=False):
    T, d = queries.shape[2:]
    t = torch.arange(T, device=queries.device)

    def block(start):
        s = queries @ keys[:, :, start : start + block_size].transpose(2, 3) / math.sqrt(d)
        if causal:
            s = s.masked_fill(t[start : start + block_size] > t[:, None], float("-inf"))
        return s

    starts = range(0, T, block_size)
    lse = torch.logsumexp(torch.stack([block(start).logsumexp(-1) for start in starts]), dim=0)
    output = sum(torch.exp(block(start) - lse[..., None]) @ values[:, :, start : start + block_size] for start in starts)
    return output, lse
