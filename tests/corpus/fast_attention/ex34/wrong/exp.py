# wrong: exp
# named: exp
def linear_attention(queries, keys, values):
    q = torch.exp(queries)
    k = torch.exp(keys)
    kv = torch.einsum("bhtd,bhte->bhtde", k, values).cumsum(dim=2)
    z = k.cumsum(dim=2)
    top = torch.einsum("bhtd,bhtde->bhte", q, kv)
    bottom = (q * z).sum(dim=-1, keepdim=True)
    return top / bottom
