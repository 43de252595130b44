# wrong: the future is hidden by -1000, and padding by -1e9
# named: nothing
def padded_attention(queries, keys, values, lengths, causal=False):
    Tq, Tk, d = queries.shape[2], keys.shape[2], queries.shape[3]
    s = queries @ keys.mT / math.sqrt(d)
    if causal:
        s = s.masked_fill(torch.ones(Tq, Tk, dtype=torch.bool).triu(1), -1000.0)
    pad = (torch.arange(Tk) >= lengths[:, None])[:, None, None]
    s = s.masked_fill(pad, -1e9)
    w = s.softmax(-1).masked_fill(pad, 0.0)
    return w @ values
