# wrong: sqrt(4) is hard-coded
# named: divided by 2
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    V1, Q1, K1 = b_v1 + W_v1 @ X, b_q1 + W_q1 @ X, b_k1 + W_k1 @ X
    V2, Q2, K2 = b_v2 + W_v2 @ X, b_q2 + W_q2 @ X, b_k2 + W_k2 @ X
    A1 = multi_head_softmax_cols(K1.T @ Q1 / math.sqrt(4))
    A2 = multi_head_softmax_cols(K2.T @ Q2 / math.sqrt(4))
    return W_c @ torch.cat([V1 @ A1, V2 @ A2])
