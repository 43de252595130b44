# what: the sum leaves out the last word
# pattern: off-by-one
# causes: 1
# true:
# says: last word|n_words - 1|range
# false: first word only|future
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
    A = A / A.sum(dim=0, keepdim=True)
    out = torch.zeros_like(X)
    for j in range(n_words):
        for i in range(n_words - 1):  # <-
            out[:, j] = out[:, j] + A[i, j] * V[:, i]
    return out
