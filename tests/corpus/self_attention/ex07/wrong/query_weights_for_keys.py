# wrong: copy and paste, the keys use W_q and b_q
# named: queries with queries
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    V = b_v + W_v @ X
    Q = b_q + W_q @ X
    K = b_q + W_q @ X
    return V @ softmax_cols(K.T @ Q / math.sqrt(Q.shape[0]))
