# wrong: Q.T K with queries in rows as in the paper and V A.T, but softmax_cols runs down the columns
# named: softmax along rows
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    Q = W_q @ X + b_q
    K = W_k @ X + b_k
    V = W_v @ X + b_v
    A = softmax_cols(Q.T @ K / math.sqrt(Q.shape[0]))
    return V @ A.T
