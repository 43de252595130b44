# wrong: right numbers, but W_q and b_q of the caller are divided in place
# named: nothing
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    W_q /= math.sqrt(W_q.shape[0])
    b_q /= math.sqrt(W_q.shape[0])
    V, Q, K = b_v + W_v @ X, b_q + W_q @ X, b_k + W_k @ X
    return V @ softmax_cols(K.T @ Q)
