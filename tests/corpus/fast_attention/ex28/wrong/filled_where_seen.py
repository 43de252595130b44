# wrong: masked_fill where keys are seen
# named: mask inverted
def grouped_query_attention(queries, keys, values, causal=False):
    B, Hq, T, d = queries.shape
    _, Hkv, S, _ = keys.shape
    g, rest = divmod(Hq, Hkv)
    if rest != 0:
        raise ValueError("bad head numbers")
    q = queries.reshape(B, Hkv, g, T, d)
    logits = torch.einsum("bkgtd,bksd->bkgts", q, keys) * d ** -0.5
    if causal:
        visible = torch.tril(torch.ones(T, S, device=q.device), diagonal=S - T)
        logits = logits.masked_fill(visible == 1, -math.inf)
    out = torch.einsum("bkgts,bksd->bkgtd", torch.softmax(logits, -1), values)
    return out.reshape(B, Hq, T, d)
