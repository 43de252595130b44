# wrong: keys and values get their biases, the queries do not
# named: queries without bias
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    Q = torch.stack([W_q1, W_q2]) @ X
    K = torch.stack([W_k1, W_k2]) @ X + torch.stack([b_k1, b_k2])
    V = torch.stack([W_v1, W_v2]) @ X + torch.stack([b_v1, b_v2])
    A = multi_head_softmax_cols(K.transpose(1, 2) @ Q / math.sqrt(K.shape[1]))
    Y = V @ A
    return W_c @ torch.cat([Y[0], Y[1]])
