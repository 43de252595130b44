# wrong: concatenated weights, reshaped to (d, H, N) instead of (H, d, N), so rows of the heads mix
# named: nothing
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    N = X.shape[1]
    d = W_q1.shape[0]
    Q = (torch.cat([W_q1, W_q2]) @ X + torch.cat([b_q1, b_q2])).reshape(d, 2, N).transpose(0, 1)
    K = (torch.cat([W_k1, W_k2]) @ X + torch.cat([b_k1, b_k2])).reshape(d, 2, N).transpose(0, 1)
    V = (torch.cat([W_v1, W_v2]) @ X + torch.cat([b_v1, b_v2])).reshape(-1, 2, N).transpose(0, 1)
    A = torch.softmax(K.transpose(1, 2) @ Q / math.sqrt(d), dim=1)
    return W_c @ (V @ A).reshape(-1, N)
