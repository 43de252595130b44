# right: the value bias is added after the sum, the same because weights sum to one
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    Q = W_q @ X + b_q
    K = W_k @ X + b_k
    A = softmax_cols(K.T @ Q / math.sqrt(Q.shape[0]))
    return W_v @ (X @ A) + b_v
