# wrong: the group axis before the key heads
# named: keys and values over and over
def grouped_query_attention(queries, keys, values, causal=False):
    B, Hq, T, d = queries.shape
    _, Hkv, S, _ = keys.shape
    if Hq % Hkv:
        raise ValueError(f"{Hq} heads of queries cannot share {Hkv} heads of keys")
    q = queries.reshape(B, Hq // Hkv, Hkv, T, d)
    scores = torch.einsum("bgktd,bksd->bgkts", q, keys) * d**-0.5
    if causal:
        t = torch.arange(T, device=q.device)[:, None] + S - T
        s = torch.arange(S, device=q.device)
        scores = torch.where(s <= t, scores, torch.full_like(scores, -torch.inf))
    out = torch.einsum("bgkts,bksd->bgktd", scores.softmax(-1), values)
    return out.reshape(B, Hq, T, d)
