# wrong: a softmax in each block of words, for its own queries
# named: only its own block
def tiled_attention(queries, keys, values, block_size, causal=False):
    B, H, T, d = queries.shape
    outs, sums = [], []
    for start in range(0, T, block_size):
        q, k, v = (x[:, :, start:start + block_size] for x in (queries, keys, values))
        s = q @ k.mT / math.sqrt(d)
        if causal:
            n = q.shape[2]
            s = s.masked_fill(torch.ones(n, n).triu(1).bool(), -math.inf)
        outs.append(s.softmax(-1) @ v); sums.append(s.logsumexp(-1))
    return torch.cat(outs, 2), torch.cat(sums, 2)
