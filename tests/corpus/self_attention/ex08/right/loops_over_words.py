# right: explicit loops over heads and words, filling an own tensor
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    params = [[W_v1, W_q1, W_k1, b_v1, b_q1, b_k1], [W_v2, W_q2, W_k2, b_v2, b_q2, b_k2]]
    N = X.shape[1]
    stacked = torch.zeros(W_v1.shape[0] + W_v2.shape[0], N)
    row = 0
    for h, (W_v, W_q, W_k, b_v, b_q, b_k) in enumerate(params):
        print("head", h + 1)
        d_v = W_v.shape[0]
        for n in range(N):
            q = b_q + W_q @ X[:, [n]]
            scores = []
            for m in range(N):
                k = b_k + W_k @ X[:, [m]]
                scores.append((q * k).sum() / math.sqrt(q.shape[0]))
            weights = softmax(scores)
            for m in range(N):
                stacked[row : row + d_v, [n]] += weights[m] * (b_v + W_v @ X[:, [m]])
        row += d_v
    return W_c @ stacked
