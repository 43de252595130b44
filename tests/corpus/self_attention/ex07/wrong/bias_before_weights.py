# wrong: W (X + b)
# named: bias added before the matrix
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    V, Q, K = W_v @ (X + b_v), W_q @ (X + b_q), W_k @ (X + b_k)
    return V @ softmax_cols(K.T @ Q / math.sqrt(Q.shape[0]))
