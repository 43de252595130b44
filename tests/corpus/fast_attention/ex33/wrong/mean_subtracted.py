# wrong: the mean of a query's scores is subtracted, which may be far below the largest
# named: nothing
def attention_backward(queries, keys, values, grad_output):
    d = queries.shape[-1]
    s = queries @ keys.transpose(-2, -1) / d**0.5
    e = torch.exp(s - s.mean(-1, keepdim=True))
    p = e / e.sum(-1, keepdim=True)
    gv = p.transpose(-2, -1) @ grad_output
    gp = grad_output @ values.transpose(-2, -1)
    gs = p * (gp - (p * gp).sum(-1, keepdim=True)) / d**0.5
    return gs @ keys, gs.transpose(-2, -1) @ queries, gv
