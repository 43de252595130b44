# wrong: einsum without the axis of the group on the right, so that its scores are summed
# named: scores of a group added up
def grouped_query_attention(queries, keys, values, causal=False):
    B, heads, T, d = queries.shape
    shared, S = keys.shape[1:3]
    if heads % shared:
        raise ValueError(f"{heads} heads of queries cannot share {shared} heads of keys")
    grouped = queries.view(B, shared, heads // shared, T, d)
    scores = torch.einsum("bhgtd,bhsd->bhts", grouped, keys) / d**0.5
    if causal:
        scores = scores.masked_fill(torch.ones(T, S).triu(S - T + 1) == 1, float("-inf"))
    outputs = torch.einsum("bhts,bhsd->bhtd", scores.softmax(-1), values)
    return outputs.repeat_interleave(heads // shared, dim=1)
