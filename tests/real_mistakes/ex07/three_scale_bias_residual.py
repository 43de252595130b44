# what: not scaled, no bias for queries, X added
# pattern: three
# causes: 3
# true: not scaled | queries without bias | words added
# says:
# false:
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    Q = W_q @ X  # <-
    K = W_k @ X + b_k
    V = W_v @ X + b_v
    dk = torch.tensor(K.size(0))
    scores = (K.T @ Q)  # <-
    weights = torch.softmax(scores, dim=0)
    return V @ weights + X  # <-
