# wrong: the scores are divided by the full D, without a root
# named: divided by D
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    D_full = X.shape[0]

    def head(W_v, W_q, W_k, b_v, b_q, b_k):
        v = W_v @ X + b_v
        q = W_q @ X + b_q
        k = W_k @ X + b_k
        return v @ multi_head_softmax_cols(k.T @ q / D_full)

    top = head(W_v1, W_q1, W_k1, b_v1, b_q1, b_k1)
    bottom = head(W_v2, W_q2, W_k2, b_v2, b_q2, b_k2)
    return W_c @ torch.cat([top, bottom])
