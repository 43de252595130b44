# wrong: nothing before
# named: no feature map
def linear_attention(queries, keys, values):
    q = queries
    k = keys
    kv = torch.einsum("bhtd,bhte->bhtde", k, values).cumsum(dim=2)
    z = k.cumsum(dim=2)
    top = torch.einsum("bhtd,bhtde->bhte", q, kv)
    bottom = (q * z).sum(dim=-1, keepdim=True)
    return top / bottom
