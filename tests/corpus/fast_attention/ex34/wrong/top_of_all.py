# wrong: only the divisor grows
# named: only the divisor is causal
def linear_attention(queries, keys, values):
    q = F.elu(queries) + 1
    k = F.elu(keys) + 1
    kv = torch.einsum("bhtd,bhte->bhtde", k, values).sum(dim=2, keepdim=True).expand(-1, -1, q.shape[2], -1, -1)
    z = k.cumsum(dim=2)
    top = torch.einsum("bhtd,bhtde->bhte", q, kv)
    bottom = (q * z).sum(dim=-1, keepdim=True)
    return top / bottom
