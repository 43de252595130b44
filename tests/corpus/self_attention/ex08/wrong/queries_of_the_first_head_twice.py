# wrong: the queries are computed once, with the parameters of head 1, and shared by both heads
# named: first head's queries twice
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    Q = W_q1 @ X + b_q1
    outputs = []
    for W_k, b_k, W_v, b_v in [(W_k1, b_k1, W_v1, b_v1), (W_k2, b_k2, W_v2, b_v2)]:
        K = W_k @ X + b_k
        V = W_v @ X + b_v
        outputs.append(V @ multi_head_softmax_cols(K.T @ Q / math.sqrt(Q.shape[0])))
    return W_c @ torch.cat(outputs)
