# wrong: everything concatenated and treated as a single head, never split
# named: nothing
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    V = torch.cat([b_v1 + W_v1 @ X, b_v2 + W_v2 @ X])
    Q = torch.cat([b_q1 + W_q1 @ X, b_q2 + W_q2 @ X])
    K = torch.cat([b_k1 + W_k1 @ X, b_k2 + W_k2 @ X])
    A = multi_head_softmax_cols(K.T @ Q / math.sqrt(Q.shape[0]))
    return W_c @ (V @ A)
