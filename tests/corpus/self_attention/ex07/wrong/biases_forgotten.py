# wrong: no bias at all
# named: without bias
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    V, Q, K = W_v @ X, W_q @ X, W_k @ X
    return V @ softmax_cols(K.T @ Q / math.sqrt(Q.shape[0]))
