# right: the queries of a group stacked as rows of one matrix product
def grouped_query_attention(queries, keys, values, causal=False):
    B, Hq, T, d = queries.shape
    Hkv, S = keys.shape[1], keys.shape[2]
    if Hq % Hkv != 0:
        raise ValueError("the query heads must be a multiple of the key heads")
    rows = queries.reshape(B, Hkv, -1, d)  # the group's queries one below the other
    scores = rows @ keys.transpose(2, 3) / math.sqrt(d)
    if causal:
        position = torch.arange(rows.shape[2], device=rows.device) % T + (S - T)
        scores.masked_fill_(torch.arange(S, device=rows.device) > position[:, None], -math.inf)
    return (torch.softmax(scores, dim=-1) @ values).reshape(B, Hq, T, d)
