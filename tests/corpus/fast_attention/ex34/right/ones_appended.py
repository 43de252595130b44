# right: a column of ones in the values
def linear_attention(queries, keys, values):
    q, k = F.elu(queries) + 1.0, F.elu(keys) + 1.0
    ones = torch.ones_like(values[..., :1])
    v = torch.cat([values, ones], dim=-1)
    sums = torch.einsum("bhtd,bhte->bhtde", k, v).cumsum(2)
    both = torch.einsum("bhtd,bhtde->bhte", q, sums)
    return both[..., :-1] / both[..., -1:]
