# wrong: the scores are divided by the number of words
# named: divided by N
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    Q1, K1, V1 = W_q1 @ X + b_q1, W_k1 @ X + b_k1, W_v1 @ X + b_v1
    Q2, K2, V2 = W_q2 @ X + b_q2, W_k2 @ X + b_k2, W_v2 @ X + b_v2
    S1 = K1.T @ Q1
    S2 = K2.T @ Q2
    S1, S2 = S1 / S1.shape[0], S2 / S2.shape[0]
    Y1 = V1 @ multi_head_softmax_cols(S1)
    Y2 = V2 @ multi_head_softmax_cols(S2)
    return W_c @ torch.vstack([Y1, Y2])
