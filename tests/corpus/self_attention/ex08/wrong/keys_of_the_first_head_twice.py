# wrong: head 2 is called with W_k1 and b_k1
# named: first head's keys twice
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    head_1 = scaled_dot_product_self_attention(X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1)
    head_2 = scaled_dot_product_self_attention(X, W_v2, W_q2, W_k1, b_v2, b_q2, b_k1)
    both_heads = torch.vstack((head_1, head_2))
    return torch.matmul(W_c, both_heads)
