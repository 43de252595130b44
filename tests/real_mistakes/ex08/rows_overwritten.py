# what: the same rows are written twice
# pattern: overwrites
# causes: 1
# true: second head empty | head 2 in the place of head 1
# says: overwrit
# false: second head twice|Both halves
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    def head(W_v, W_q, W_k, b_v, b_q, b_k):
        K = W_k @ X + b_k
        S = K.T @ (W_q @ X + b_q)
        return (W_v @ X + b_v) @ multi_head_softmax_cols(S / math.sqrt(K.shape[0]))

    n = W_v1.shape[0]
    both = torch.zeros(2 * n, X.shape[1])
    both[:n] = head(W_v1, W_q1, W_k1, b_v1, b_q1, b_k1)
    both[:n] = head(W_v2, W_q2, W_k2, b_v2, b_q2, b_k2)  # <-
    return W_c @ both
