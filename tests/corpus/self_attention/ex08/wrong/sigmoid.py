# wrong: sigmoid instead of softmax in both heads
# named: sigmoid
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    Q1, K1, V1 = W_q1 @ X + b_q1, W_k1 @ X + b_k1, W_v1 @ X + b_v1
    Q2, K2, V2 = W_q2 @ X + b_q2, W_k2 @ X + b_k2, W_v2 @ X + b_v2
    scale = Q1.shape[0] ** -0.5
    A1 = torch.sigmoid(scale * K1.T @ Q1)
    A2 = torch.sigmoid(scale * K2.T @ Q2)
    return W_c @ torch.cat([V1 @ A1, V2 @ A2])
