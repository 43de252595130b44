# wrong: softmax over heads; the zeros over NaN are no mistake, since masked_fill lets no gradient through
# named: softmax over heads, with zeros for NaN
def padded_attention(queries, keys, values, lengths, causal=False):
    length, longest = queries.shape[2], keys.shape[2]
    scores = torch.einsum("bhqd,bhkd->bhqk", queries, keys) / math.sqrt(queries.shape[3])
    is_padding = torch.arange(longest)[None, :] >= lengths[:, None]
    scores = scores.masked_fill(is_padding[:, None, None, :], float("-inf"))
    if causal:
        scores = scores.masked_fill(torch.ones(length, longest).triu(1).bool(), float("-inf"))
    weights = torch.nan_to_num(scores.softmax(dim=1))
    return torch.einsum("bhqk,bhkd->bhqd", weights, values)
