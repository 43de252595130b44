# what: Q @ K.T is (D/2, D/2)
# pattern: dimensions-compared
# causes: 1
# true: dimensions compared | dimensions compared, by the formula for rows
# says: compare (dimensions|entries|features)|\(D/
# false: softmax along rows|over the queries|first head
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    def one_head(W_v, W_q, W_k, b_v, b_q, b_k):
        V = W_v @ X + b_v
        Q = W_q @ X + b_q
        K = W_k @ X + b_k
        d = Q.shape[0]
        A = torch.softmax(Q @ K.T / d ** 0.5, dim=-1)  # <-
        return A @ V  # <-

    params = [
        (W_v1, W_q1, W_k1, b_v1, b_q1, b_k1),
        (W_v2, W_q2, W_k2, b_v2, b_q2, b_k2),
    ]
    results = []
    for p in params:
        results.append(one_head(*p))
    stacked = torch.vstack(results)
    return W_c @ stacked
