# wrong: placeholder weights of 1/N are left in, the scores are not used
# named: plain average
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    n = X.shape[1]
    V = b_v + W_v @ X
    Q = b_q + W_q @ X
    K = b_k + W_k @ X
    scores = K.T @ Q / math.sqrt(Q.shape[0])
    weights = torch.ones(n, n) / n
    return torch.matmul(V, weights)
