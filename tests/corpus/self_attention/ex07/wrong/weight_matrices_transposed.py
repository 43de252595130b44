# wrong: W.T X
# named: matrices transposed
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    V, Q, K = b_v + W_v.T @ X, b_q + W_q.T @ X, b_k + W_k.T @ X
    return V @ softmax_cols(K.T @ Q / math.sqrt(Q.shape[0]))
