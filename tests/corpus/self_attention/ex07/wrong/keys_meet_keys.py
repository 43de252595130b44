# wrong: K.T K instead of K.T Q, the queries are not used
# named: keys with keys
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    Q = W_q @ X + b_q
    K = W_k @ X + b_k
    V = W_v @ X + b_v
    scores = K.T @ K
    scores = scores / math.sqrt(K.shape[0])
    weights = softmax_cols(scores)
    return V @ weights
