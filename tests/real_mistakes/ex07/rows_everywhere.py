# what: X is turned to rows, and so is the result
# pattern: words-as-rows
# causes: 1
# true: result transposed
# says:
# false:
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    Q = (X.T @ W_q.T + b_q.T).T
    K = W_k @ X + b_k
    V = W_v @ X + b_v
    dk = torch.tensor(K.size(0))
    scores = (K.T @ Q) / torch.sqrt(dk)
    weights = torch.softmax(scores, dim=0)
    return weights.T @ V.T  # <-
