# wrong: V @ A.T in both heads
# named: weights transposed
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    out = []
    for W_v, W_q, W_k, b_v, b_q, b_k in [
        (W_v1, W_q1, W_k1, b_v1, b_q1, b_k1),
        (W_v2, W_q2, W_k2, b_v2, b_q2, b_k2),
    ]:
        V, Q, K = b_v + W_v @ X, b_q + W_q @ X, b_k + W_k @ X
        A = multi_head_softmax_cols(K.T @ Q / math.sqrt(Q.shape[0]))
        out.append(V @ A.T)
    return W_c @ torch.cat(out)
