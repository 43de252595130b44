# wrong: a loop that averages the weighted values instead of summing them
# named: mean instead of sum
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    Q, K, V = W_q @ X + b_q, W_k @ X + b_k, W_v @ X + b_v
    A = softmax_cols(K.T @ Q / math.sqrt(Q.shape[0]))
    columns = []
    for n in range(X.shape[1]):
        weighted = V * A[:, n]
        columns.append(weighted.mean(dim=1))
    return torch.stack(columns, dim=1)
