# wrong: + 1 is forgotten for the keys
# named: elu without one for keys
def linear_attention(queries, keys, values):
    q = F.elu(queries) + 1
    k = F.elu(keys)
    kv = torch.cumsum(k[..., :, None] * values[..., None, :], dim=2)
    ksum = torch.cumsum(k, dim=2)
    num = (q[..., None, :] @ kv).squeeze(-2)
    den = (q * ksum).sum(-1, keepdim=True)
    return num / den
