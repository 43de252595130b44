# wrong: the queries are summed instead of the values
# named: nothing
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    Q = W_q @ X + b_q
    K = W_k @ X + b_k
    V = W_v @ X + b_v
    A = softmax_cols(K.T @ Q / math.sqrt(K.shape[0]))
    return Q @ A
