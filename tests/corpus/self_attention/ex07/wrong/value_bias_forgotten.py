# wrong: the value bias is missing
# named: values without bias
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    V = W_v @ X
    Q = b_q + W_q @ X
    K = b_k + W_k @ X
    return V @ softmax_cols(K.T @ Q / math.sqrt(Q.shape[0]))
