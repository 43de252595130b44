# wrong: off by one, the last column stays zero
# named: nothing
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    V, Q, K = b_v + W_v @ X, b_q + W_q @ X, b_k + W_k @ X
    out = torch.zeros_like(V)
    for n in range(X.shape[1] - 1):
        out[:, n : n + 1] = V @ softmax_cols(K.T @ Q[:, n : n + 1] / math.sqrt(Q.shape[0]))
    return out
