# wrong: W_c is forgotten, the heads are only stacked
# named: without W_c
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    h1 = scaled_dot_product_self_attention(X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1)
    h2 = scaled_dot_product_self_attention(X, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2)
    return torch.cat([h1, h2], dim=0)
