# right: a group axis and einsum, nothing repeated
def grouped_query_attention(queries, keys, values, causal=False):
    B, Hq, T, d = queries.shape
    _, Hkv, S, _ = keys.shape
    if Hq % Hkv:
        raise ValueError(f"{Hq} heads of queries cannot share {Hkv} heads of keys")
    q = queries.reshape(B, Hkv, Hq // Hkv, T, d)
    scores = torch.einsum("bkgtd,bksd->bkgts", q, keys) * d**-0.5
    if causal:
        t = torch.arange(T, device=q.device)[:, None] + S - T
        s = torch.arange(S, device=q.device)
        scores = torch.where(s <= t, scores, torch.full_like(scores, -torch.inf))
    out = torch.einsum("bkgts,bksd->bkgtd", scores.softmax(-1), values)
    return out.reshape(B, Hq, T, d)
