# wrong: softmax of the negative scores in both heads
# named: sign flipped
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    softmin = torch.nn.Softmin(dim=0)
    Q1, K1, V1 = W_q1 @ X + b_q1, W_k1 @ X + b_k1, W_v1 @ X + b_v1
    Q2, K2, V2 = W_q2 @ X + b_q2, W_k2 @ X + b_k2, W_v2 @ X + b_v2
    Y1 = V1 @ softmin(K1.T @ Q1 / math.sqrt(K1.shape[0]))
    Y2 = V2 @ softmin(K2.T @ Q2 / math.sqrt(K2.shape[0]))
    return W_c @ torch.cat((Y1, Y2))
