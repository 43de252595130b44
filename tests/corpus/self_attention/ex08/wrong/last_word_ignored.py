# wrong: keys and values of the last word are left out
# named: nothing
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    def head(W_v, W_q, W_k, b_v, b_q, b_k):
        V, Q, K = b_v + W_v @ X[:, :-1], b_q + W_q @ X, b_k + W_k @ X[:, :-1]
        return V @ multi_head_softmax_cols(K.T @ Q / math.sqrt(Q.shape[0]))

    return W_c @ torch.cat([head(W_v1, W_q1, W_k1, b_v1, b_q1, b_k1), head(W_v2, W_q2, W_k2, b_v2, b_q2, b_k2)])
