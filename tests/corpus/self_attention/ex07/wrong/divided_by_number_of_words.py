# wrong: divided by the number of columns of X
# named: divided by N
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    D_in, N_words = X.shape
    Q, K, V = W_q @ X + b_q, W_k @ X + b_k, W_v @ X + b_v
    scores = K.T @ Q
    scores = scores / N_words
    return V @ softmax_cols(scores)
