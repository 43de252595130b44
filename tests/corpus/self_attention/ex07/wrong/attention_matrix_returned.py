# wrong: returns the attention matrix, the product with V is forgotten
# named: weights returned
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    V = W_v @ X + b_v
    Q = W_q @ X + b_q
    K = W_k @ X + b_k
    attention = softmax_cols(torch.matmul(K.T, Q) / math.sqrt(K.shape[0]))
    return attention
