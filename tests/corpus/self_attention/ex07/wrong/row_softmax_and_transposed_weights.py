# wrong: K.T Q with the softmax along rows and V A.T, as if the queries were in rows
# named: queries and keys exchanged
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    Q = W_q @ X + b_q
    K = W_k @ X + b_k
    V = W_v @ X + b_v
    A = torch.softmax(K.T @ Q / math.sqrt(Q.shape[0]), dim=-1)
    return V @ A.T
