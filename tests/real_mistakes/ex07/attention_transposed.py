# what: queries in rows, and no transpose before the values
# pattern: missing-transpose
# causes: 1
# true: weights transposed
# says:
# false:
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    Q = W_q @ X + b_q
    K = W_k @ X + b_k
    V = W_v @ X + b_v
    dk = torch.tensor(K.size(0))
    scores = (Q.T @ K) / torch.sqrt(dk)  # <-
    weights = torch.softmax(scores, dim=1)  # <-
    return V @ weights  # <-
