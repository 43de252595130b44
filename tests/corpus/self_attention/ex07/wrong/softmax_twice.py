# wrong: softmax_cols is applied to the result of torch.softmax
# named: applied twice
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    Q, K, V = W_q @ X + b_q, W_k @ X + b_k, W_v @ X + b_v
    weights = torch.softmax(K.T @ Q / math.sqrt(Q.shape[0]), dim=0)
    weights = softmax_cols(weights)
    return V @ weights
