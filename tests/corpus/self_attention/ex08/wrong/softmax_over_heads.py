# wrong: batched heads, softmax over the head dimension
# named: nothing
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    N = X.shape[1]
    Q = torch.stack([W_q1 @ X + b_q1, W_q2 @ X + b_q2])
    K = torch.stack([W_k1 @ X + b_k1, W_k2 @ X + b_k2])
    V = torch.stack([W_v1 @ X + b_v1, W_v2 @ X + b_v2])
    A = torch.softmax(K.transpose(1, 2) @ Q / math.sqrt(Q.shape[1]), dim=0)
    return W_c @ (V @ A).reshape(-1, N)
