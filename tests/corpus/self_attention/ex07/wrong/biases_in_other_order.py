# wrong: the matrices are handed to exercise 1 in its order, the biases in this function's order
# named: biases exchanged
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    def project(W_query, W_key, W_value, b_query, b_key, b_value):
        return W_query @ X + b_query, W_key @ X + b_key, W_value @ X + b_value

    Q, K, V = project(W_q, W_k, W_v, b_v, b_q, b_k)
    attention = softmax_cols(K.T @ Q / math.sqrt(K.shape[0]))
    return V @ attention
