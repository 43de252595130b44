# right: torch.softmax with dim=0, short
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    V, Q, K = W_v @ X + b_v, W_q @ X + b_q, W_k @ X + b_k
    return V @ torch.softmax((K.T @ Q) * Q.shape[0] ** -0.5, dim=0)
