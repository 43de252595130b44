# wrong: hidden by -1000, which is more than many a score
# named: nothing
def padded_attention(queries, keys, values, lengths, causal=False):
    B, H, Tq, d = queries.shape
    Tk = keys.size(-2)
    scores = torch.einsum("bhqd,bhkd->bhqk", queries, keys) * d ** -0.5
    keep = (torch.arange(Tk, device=keys.device)[None] < lengths.to(keys.device)[:, None])[:, None, None, :].expand(B, 1, Tq, Tk)
    if causal:
        keep = keep & torch.tril(torch.ones(Tq, Tk, dtype=torch.bool, device=keys.device))
    scores = scores.masked_fill(~keep, -1000.0)
    w = scores.softmax(-1) * keep
    return torch.einsum("bhqk,bhkd->bhqd", w, values)
