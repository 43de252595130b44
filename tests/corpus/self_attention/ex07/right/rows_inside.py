# right: row convention inside, transposed back
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    x = X.T  # (N, D)
    q = x @ W_q.T + b_q.T
    k = x @ W_k.T + b_k.T
    v = x @ W_v.T + b_v.T
    weights = (q @ k.T / q.shape[1] ** 0.5).softmax(dim=-1)
    context = weights @ v
    return context.T
