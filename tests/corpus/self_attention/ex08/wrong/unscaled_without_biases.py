# wrong: two mistakes, no scaling and no biases
# named: not scaled + without bias
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    A1 = multi_head_softmax_cols((W_k1 @ X).T @ (W_q1 @ X))
    A2 = multi_head_softmax_cols((W_k2 @ X).T @ (W_q2 @ X))
    return W_c @ torch.cat([W_v1 @ X @ A1, W_v2 @ X @ A2])
