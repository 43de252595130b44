# what: divided by D, softmax over rows
# pattern: two
# causes: 2
# true: divided by D | softmax along rows
# says:
# false:
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    Q = W_q @ X + b_q
    K = W_k @ X + b_k
    V = W_v @ X + b_v
    dk = torch.tensor(K.size(0))
    scores = (K.T @ Q) / dk  # <-
    weights = torch.softmax(scores, dim=1)  # <-
    return V @ weights
