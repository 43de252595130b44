# what: * 0.5
# pattern: wrong-exponent
# causes: 1
# true:
# says: half|0\.5
# false: divide the scores by D\.|√N|whatever (D|the sizes|d_|the head)|hard-coded|divided? by 2\b
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    Q = W_q @ X + b_q
    K = W_k @ X + b_k
    V = W_v @ X + b_v
    dk = torch.tensor(K.size(0))
    scores = (K.T @ Q) / (dk * 0.5)  # <-
    weights = torch.softmax(scores, dim=0)
    return V @ weights
