# wrong: the counter is never increased, the loop does not end
# named: nothing
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    V, Q, K = b_v + W_v @ X, b_q + W_q @ X, b_k + W_k @ X
    columns = [None] * X.shape[1]
    n = 0
    while n < X.shape[1]:
        columns[n] = V @ softmax_cols(K.T @ Q[:, n : n + 1] / math.sqrt(Q.shape[0]))
    return torch.cat(columns, dim=1)
