# wrong: the helpers read the notebook's weights of each head
# named: nothing
def first_head(X):
    V1, Q1, K1 = b_v1 + W_v1 @ X, b_q1 + W_q1 @ X, b_k1 + W_k1 @ X
    return V1 @ multi_head_softmax_cols(K1.T @ Q1 / math.sqrt(K1.shape[0]))


def second_head(X):
    V2, Q2, K2 = b_v2 + W_v2 @ X, b_q2 + W_q2 @ X, b_k2 + W_k2 @ X
    return V2 @ multi_head_softmax_cols(K2.T @ Q2 / math.sqrt(K2.shape[0]))


def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    return W_c @ torch.cat([first_head(X), second_head(X)])
