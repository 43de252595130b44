# right: a small number added to the divisor
def linear_attention(queries, keys, values, eps=1e-6):
    q = 1 + F.elu(queries)
    k = 1 + F.elu(keys)
    kv = torch.cumsum(k[..., None] * values[..., None, :], dim=2)
    z = torch.cumsum(k, dim=2)
    out = (q[..., None, :] @ kv).squeeze(-2)
    return out / (torch.sum(q * z, dim=-1, keepdim=True) + eps)
