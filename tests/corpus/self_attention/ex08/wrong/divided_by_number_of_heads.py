# wrong: the recombined result is divided by the number of heads
# named: heads averaged
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    num_heads = 2
    heads = []
    heads.append(scaled_dot_product_self_attention(X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1))
    heads.append(scaled_dot_product_self_attention(X, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2))
    return torch.matmul(W_c, torch.cat(heads, dim=0)) / num_heads
