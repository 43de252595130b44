# wrong: copy and paste, W_q and b_q for queries, keys and values
# named: query parameters for everything
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    V = torch.matmul(W_q, X) + b_q
    Q = torch.matmul(W_q, X) + b_q
    K = torch.matmul(W_q, X) + b_q
    d_k = K.shape[0]
    return torch.matmul(V, softmax_cols(torch.matmul(K.T, Q) / d_k**0.5))
