# wrong: without causal, softmax overflows
# named: nothing
def grouped_query_attention(queries, keys, values, causal=False):
    B, Hq, T, d = queries.shape; Hkv, S = keys.shape[1:3]
    if Hq % Hkv: raise ValueError
    k, v = (x.repeat_interleave(Hq // Hkv, 1) for x in (keys, values))
    s = queries @ k.mT / d**0.5
    if causal:
        return s.masked_fill(torch.ones(T, S, dtype=torch.bool).triu(S - T + 1), -torch.inf).softmax(-1) @ v
    e = s.exp()
    return e / e.sum(-1, keepdim=True) @ v
