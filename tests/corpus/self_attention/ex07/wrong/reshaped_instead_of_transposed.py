# wrong: the result has (N, D) and is reshaped to (D, N), which mixes words up
# named: nothing
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    x = X.T
    q, k, v = x @ W_q.T + b_q.T, x @ W_k.T + b_k.T, x @ W_v.T + b_v.T
    out = torch.softmax(q @ k.T / math.sqrt(q.shape[1]), dim=1) @ v
    return out.reshape(X.shape)
