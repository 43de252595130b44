# right: blocks are put together by the merge of exercise 31
def tiled_attention(queries, keys, values, block_size, causal=False):
    d, T = queries.shape[-1], queries.shape[-2]
    outs, lses = [], []
    for start in range(0, T, block_size):
        q = queries[..., start:start + block_size, :]
        rows = torch.arange(start, start + q.shape[-2], device=q.device)[:, None]
        m, l, o = q.new_full((*q.shape[:-1], 1), -math.inf), q.new_zeros((*q.shape[:-1], 1)), torch.zeros_like(q)
        for first in range(0, T, block_size):
            if causal and first > start + q.shape[-2] - 1:
                break
            s = q @ keys[..., first:first + block_size, :].mT / math.sqrt(d)
            if causal:
                s = s.masked_fill(first + torch.arange(s.shape[-1], device=s.device) > rows, -math.inf)
            m2 = s.amax(-1, keepdim=True)
            p = torch.exp(s - m2)
            l2 = p.sum(-1, keepdim=True)
            m, l, o = merge(m, l, o, m2, l2, p @ values[..., first:first + block_size, :] / l2)
        outs.append(o)
        lses.append((m + l.log()).squeeze(-1))
    return torch.cat(outs, -2), torch.cat(lses, -1)
