# right: a loop over heads, stacked
def grouped_query_attention(queries, keys, values, causal=False):
    Hq, Hkv = queries.size(1), keys.size(1)
    T, S, d = queries.size(2), keys.size(2), keys.size(3)
    if Hq % Hkv:
        raise ValueError
    outs = []
    for h in range(Hq):
        kv = h // (Hq // Hkv)
        scores = torch.bmm(queries[:, h], keys[:, kv].transpose(1, 2)) / d**0.5
        if causal:
            for i in range(T):
                scores[:, i, i + S - T + 1:] = -math.inf
        outs.append(torch.bmm(F.softmax(scores, dim=2), values[:, kv]))
    return torch.stack(outs, dim=1)
