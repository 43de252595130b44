# wrong: sums from the end
# named: past hidden
def linear_attention(queries, keys, values):
    q = F.elu(queries) + 1
    k = F.elu(keys) + 1
    kv = torch.einsum("bhtd,bhte->bhtde", k, values).flip(2).cumsum(dim=2).flip(2)
    z = k.flip(2).cumsum(dim=2).flip(2)
    top = torch.einsum("bhtd,bhtde->bhte", q, kv)
    bottom = (q * z).sum(dim=-1, keepdim=True)
    return top / bottom
