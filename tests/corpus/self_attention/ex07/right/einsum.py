# right: einsum all the way
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    proj = lambda W, b: torch.einsum("ed,dn->en", W, X) + b
    q, k, v = proj(W_q, b_q), proj(W_k, b_k), proj(W_v, b_v)
    s = torch.einsum("em,en->mn", k, q).div(k.size(0) ** 0.5)
    s = s.exp()
    return torch.einsum("dm,mn->dn", v, s / s.sum(dim=0))
