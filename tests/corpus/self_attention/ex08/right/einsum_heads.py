# right: weights stacked in a head dimension, einsum
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    Wq, Wk, Wv = torch.stack([W_q1, W_q2]), torch.stack([W_k1, W_k2]), torch.stack([W_v1, W_v2])
    bq, bk, bv = torch.stack([b_q1, b_q2]), torch.stack([b_k1, b_k2]), torch.stack([b_v1, b_v2])
    q = torch.einsum("hed,dn->hen", Wq, X) + bq
    k = torch.einsum("hed,dn->hen", Wk, X) + bk
    v = torch.einsum("hed,dn->hen", Wv, X) + bv
    a = torch.einsum("hem,hen->hmn", k, q).div(q.size(1) ** 0.5).softmax(dim=-2)
    z = torch.einsum("hem,hmn->hen", v, a).flatten(0, 1)
    return torch.einsum("ij,jn->in", W_c, z)
