# wrong: head 1 sums the values of head 2 and head 2 those of head 1
# named: values crossed
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    V1, Q1, K1 = W_v1 @ X + b_v1, W_q1 @ X + b_q1, W_k1 @ X + b_k1
    V2, Q2, K2 = W_v2 @ X + b_v2, W_q2 @ X + b_q2, W_k2 @ X + b_k2
    d = Q1.shape[0]
    W1 = multi_head_softmax_cols((K1.T @ Q1) / math.sqrt(d))
    W2 = multi_head_softmax_cols((K2.T @ Q2) / math.sqrt(d))
    head1 = V2 @ W1
    head2 = V1 @ W2
    return W_c @ torch.cat([head1, head2], dim=0)
