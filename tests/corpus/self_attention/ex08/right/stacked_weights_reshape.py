# right: weights of both heads concatenated, reshaped to (H, d, N), batched products
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    N = X.shape[1]
    Q = (torch.cat([W_q1, W_q2]) @ X + torch.cat([b_q1, b_q2])).reshape(2, -1, N)
    K = (torch.cat([W_k1, W_k2]) @ X + torch.cat([b_k1, b_k2])).reshape(2, -1, N)
    V = (torch.cat([W_v1, W_v2]) @ X + torch.cat([b_v1, b_v2])).reshape(2, -1, N)
    S = K.transpose(1, 2) @ Q / math.sqrt(Q.shape[1])  # (H, N, N)
    A = torch.softmax(S, dim=1)
    return W_c @ (V @ A).reshape(-1, N)
