# what: notebook's D, softmax along rows, transposed matrices
# pattern: three
# causes: 3
# true: the notebook's variables | softmax along rows | matrices transposed
# says: reads `D`
# false: whatever (D|the sizes|d_|the head)|hard-coded|divided? by 2\b
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    Q = W_q.T @ X + b_q  # <-
    K = W_k.T @ X + b_k  # <-
    V = W_v.T @ X + b_v  # <-
    dk = torch.tensor(K.size(0))
    scores = (K.T @ Q) / D ** 0.5  # <-
    weights = torch.softmax(scores, dim=1)  # <-
    return V @ weights
