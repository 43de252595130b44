# wrong: + 1 is forgotten for the queries
# named: elu without one for queries
def linear_attention(queries, keys, values):
    q = F.elu(queries)
    k = F.elu(keys) + 1
    kv = torch.cumsum(k[..., :, None] * values[..., None, :], dim=2)
    ksum = torch.cumsum(k, dim=2)
    num = (q[..., None, :] @ kv).squeeze(-2)
    den = (q * ksum).sum(-1, keepdim=True)
    return num / den
