# what: sums of the rows
# pattern: wrong-axis
# causes: 1
# true:
# says: keepdim|axis|sums? of the rows|dim=1
# false: softmax along rows|over the queries
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    D_in, n_words = X.shape
    V = b_v + W_v @ X
    Q = b_q + W_q @ X
    K = b_k + W_k @ X
    S = torch.zeros(n_words, n_words)
    for i in range(n_words):
        for j in range(n_words):
            S[i, j] = torch.dot(K[:, i], Q[:, j])
    S = S / D_in ** 0.5
    A = torch.exp(S - S.max())
    A = A / A.sum(dim=1)  # <-
    out = torch.zeros_like(X)
    for j in range(n_words):
        for i in range(n_words):
            out[:, j] = out[:, j] + A[i, j] * V[:, i]
    return out
