# wrong: relu
# named: relu
def linear_attention(queries, keys, values):
    q = F.relu(queries)
    k = F.relu(keys)
    kv = torch.einsum("bhtd,bhte->bhtde", k, values).cumsum(dim=2)
    z = k.cumsum(dim=2)
    top = torch.einsum("bhtd,bhtde->bhte", q, kv)
    bottom = (q * z).sum(dim=-1, keepdim=True)
    return top / bottom
