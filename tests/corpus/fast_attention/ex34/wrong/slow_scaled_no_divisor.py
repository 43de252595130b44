# wrong: scaled, and not divided
# named: scaled by √d + not divided
def linear_attention(queries, keys, values):
    q = F.elu(queries / queries.shape[-1] ** 0.5) + 1
    k = F.elu(keys) + 1
    kv = torch.einsum("bhtd,bhte->bhtde", k, values).cumsum(dim=2)
    z = k.cumsum(dim=2)
    top = torch.einsum("bhtd,bhtde->bhte", q, kv)
    bottom = (q * z).sum(dim=-1, keepdim=True)
    return top
