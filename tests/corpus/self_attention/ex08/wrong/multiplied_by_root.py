# wrong: the scores are multiplied by the root of the head size
# named: multiplied by the root
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    Q1, K1, V1 = W_q1 @ X + b_q1, W_k1 @ X + b_k1, W_v1 @ X + b_v1
    Q2, K2, V2 = W_q2 @ X + b_q2, W_k2 @ X + b_k2, W_v2 @ X + b_v2
    root = math.sqrt(K1.shape[0])
    heads = []
    for Q, K, V in [(Q1, K1, V1), (Q2, K2, V2)]:
        heads.append(V @ multi_head_softmax_cols(root * (K.T @ Q)))
    return W_c @ torch.cat(heads)
