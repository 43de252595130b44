# right: the textbook's repeat_kv: expand, then reshape
def repeat_kv(x, n):
    B, H, S, d = x.shape
    return x[:, :, None, :, :].expand(B, H, n, S, d).reshape(B, H * n, S, d)


def grouped_query_attention(queries, keys, values, causal=False):
    n, rest = divmod(queries.shape[1], keys.shape[1])
    if rest or n == 0:
        raise ValueError("the number of query heads must be a multiple of the number of key heads")
    keys, values = repeat_kv(keys, n), repeat_kv(values, n)
    T, S = queries.shape[-2], keys.shape[-2]
    bias = torch.zeros(T, S, dtype=queries.dtype, device=queries.device)
    if causal:
        bias = bias.masked_fill(~torch.ones_like(bias, dtype=torch.bool).tril(S - T), torch.finfo(queries.dtype).min)
    scores = queries @ keys.mT / queries.shape[-1] ** 0.5 + bias
    return scores.softmax(-1) @ values
