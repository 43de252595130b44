# right: the formula with the given helper softmax_cols
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    V = b_v + torch.matmul(W_v, X)
    Q = b_q + torch.matmul(W_q, X)
    K = b_k + torch.matmul(W_k, X)
    scores = torch.matmul(K.T, Q) / math.sqrt(K.shape[0])
    attention = softmax_cols(scores)
    return torch.matmul(V, attention)
