# wrong: the bias is transposed to a row, which does not fit when N and D differ
# named: nothing
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    V, Q, K = b_v.T + W_v @ X, b_q.T + W_q @ X, b_k.T + W_k @ X
    return V @ softmax_cols(K.T @ Q / math.sqrt(Q.shape[0]))
