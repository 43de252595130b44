# wrong: the second head is written where the first one belongs
# named: head 2 in the place of head 1
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    def head(W_v, W_q, W_k, b_v, b_q, b_k):
        V, Q, K = W_v @ X + b_v, W_q @ X + b_q, W_k @ X + b_k
        return V @ multi_head_softmax_cols(K.T @ Q / math.sqrt(K.shape[0]))

    first = head(W_v1, W_q1, W_k1, b_v1, b_q1, b_k1)
    stacked = torch.cat([first, torch.zeros_like(first)])
    stacked[: len(first)] = head(W_v2, W_q2, W_k2, b_v2, b_q2, b_k2)
    return W_c @ stacked
