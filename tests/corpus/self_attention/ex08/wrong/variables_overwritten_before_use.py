# wrong: all projections are made first under the same names, so both heads are head 2
# named: second head twice
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    Q, K, V = W_q1 @ X + b_q1, W_k1 @ X + b_k1, W_v1 @ X + b_v1
    Q, K, V = W_q2 @ X + b_q2, W_k2 @ X + b_k2, W_v2 @ X + b_v2
    head1 = V @ multi_head_softmax_cols(K.T @ Q / math.sqrt(K.shape[0]))
    head2 = V @ multi_head_softmax_cols(K.T @ Q / math.sqrt(K.shape[0]))
    return W_c @ torch.cat([head1, head2])
