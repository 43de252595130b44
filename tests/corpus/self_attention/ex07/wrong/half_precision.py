# wrong: float16 inside
# named: nothing
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    X, W_v, W_q, W_k, b_v, b_q, b_k = (t.half() for t in (X, W_v, W_q, W_k, b_v, b_q, b_k))
    V, Q, K = b_v + W_v @ X, b_q + W_q @ X, b_k + W_k @ X
    return (V @ torch.softmax(K.T @ Q / math.sqrt(Q.shape[0]), dim=0)).float()
