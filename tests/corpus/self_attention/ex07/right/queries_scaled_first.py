# right: the queries are scaled before the product, queries by keys, softmax along rows
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    Q = (b_q + W_q @ X) / math.sqrt(W_q.shape[0])
    K = b_k + W_k @ X
    V = b_v + W_v @ X
    A = torch.softmax(Q.T @ K, dim=1)
    return V @ A.T
