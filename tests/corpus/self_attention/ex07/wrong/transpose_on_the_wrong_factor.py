# wrong: K Q.T instead of K.T Q, a D x D matrix that happens to fit in front of V
# named: dimensions compared
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    Q = W_q @ X + b_q
    K = W_k @ X + b_k
    V = W_v @ X + b_v
    scores = torch.matmul(K, Q.T) / math.sqrt(K.shape[0])
    return torch.matmul(softmax_cols(scores), V)
