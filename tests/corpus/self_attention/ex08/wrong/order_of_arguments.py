# wrong: exercise 7 is called with W_q, W_k, W_v, but takes W_v, W_q, W_k
# named: nothing
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    h1 = scaled_dot_product_self_attention(X, W_q1, W_k1, W_v1, b_q1, b_k1, b_v1)
    h2 = scaled_dot_product_self_attention(X, W_q2, W_k2, W_v2, b_q2, b_k2, b_v2)
    return W_c @ torch.cat([h1, h2])
