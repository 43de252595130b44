# what: the parameters are taken in the order q, k, v
# pattern: arguments-exchanged
# causes: 1
# true: parameters in q, k, v order
# says:
# false:
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    # q, k, v
    Q = W_v @ X + b_v  # <-
    K = W_q @ X + b_q  # <-
    V = W_k @ X + b_k  # <-
    dk = torch.tensor(K.size(0))
    scores = (K.T @ Q) / torch.sqrt(dk)
    weights = torch.softmax(scores, dim=0)
    return V @ weights
