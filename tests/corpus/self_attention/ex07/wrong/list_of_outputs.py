# wrong: right numbers, but a list of columns as in exercise 6
# named: list of columns
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    Q, K, V = W_q @ X + b_q, W_k @ X + b_k, W_v @ X + b_v
    outputs = []
    for n in range(X.shape[1]):
        q = Q[:, n].reshape(-1, 1)
        a = softmax_cols(K.T @ q / math.sqrt(q.shape[0]))
        outputs.append(V @ a)
    return outputs
