# wrong: Q K.T instead of K.T Q, a D x D matrix that happens to fit in front of V
# named: dimensions compared, by the formula for rows, down columns
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    Q = W_q @ X + b_q
    K = W_k @ X + b_k
    V = W_v @ X + b_v
    scores = torch.matmul(Q, K.T) / math.sqrt(K.shape[0])
    return torch.matmul(softmax_cols(scores), V)
