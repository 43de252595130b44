# wrong: a causal mask by habit
# named: future hidden
def attention_backward(queries, keys, values, grad_output):
    d = queries.shape[-1]
    s = queries @ keys.transpose(-2, -1) / math.sqrt(d)
    s = s.masked_fill(torch.ones_like(s[0, 0]).triu(1).bool(), -math.inf)
    p = torch.softmax(s, dim=-1)
    dv = p.transpose(-2, -1) @ grad_output
    dp = grad_output @ values.transpose(-2, -1)
    ds = p * (dp - (p * dp).sum(dim=-1, keepdim=True))
    dq = ds @ keys / math.sqrt(d)
    dk = ds.transpose(-2, -1) @ queries / math.sqrt(d)
    return dq, dk, dv
