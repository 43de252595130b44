# wrong: everything is cast to bfloat16 first
# named: nothing
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    X, W_c = X.bfloat16(), W_c.bfloat16()
    p1 = [t.bfloat16() for t in (W_v1, W_q1, W_k1, b_v1, b_q1, b_k1)]
    p2 = [t.bfloat16() for t in (W_v2, W_q2, W_k2, b_v2, b_q2, b_k2)]
    h1 = scaled_dot_product_self_attention(X, *p1)
    h2 = scaled_dot_product_self_attention(X, *p2)
    return (W_c @ torch.cat([h1, h2])).float()
