# wrong: no softmax
# named: raw scores as weights
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    V, Q, K = b_v + W_v @ X, b_q + W_q @ X, b_k + W_k @ X
    return V @ (K.T @ Q / math.sqrt(Q.shape[0]))
