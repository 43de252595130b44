# wrong: no return
# named: nothing
def linear_attention(queries, keys, values):
    q = F.elu(queries) + 1
    k = F.elu(keys) + 1
    kv = torch.einsum("bhtd,bhte->bhtde", k, values).cumsum(dim=2)
    z = k.cumsum(dim=2)
    top = torch.einsum("bhtd,bhtde->bhte", q, kv)
    bottom = (q * z).sum(dim=-1, keepdim=True)
    result = top / bottom
