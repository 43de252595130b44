# what: the first head is divided by d_k
# pattern: wrong-exponent
# causes: 1
# true:
# says: head 1|first head
# false: divide by the head size|You divide by D
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    q1, k1, v1 = W_q1 @ X + b_q1, W_k1 @ X + b_k1, W_v1 @ X + b_v1
    q2, k2, v2 = W_q2 @ X + b_q2, W_k2 @ X + b_k2, W_v2 @ X + b_v2
    a1 = multi_head_softmax_cols(k1.T @ q1 / k1.shape[0])  # <-
    a2 = multi_head_softmax_cols(k2.T @ q2 / k2.shape[0] ** 0.5)
    return W_c @ torch.cat([v1 @ a1, v2 @ a2])
