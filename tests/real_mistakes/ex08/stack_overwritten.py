# what: the second head is written over the first
# pattern: overwrites
# causes: 1
# true: second head empty | head 2 in the place of head 1
# says: overwrit
# false:
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    # first head
    Q1 = torch.matmul(W_q1, X) + b_q1
    K1 = torch.matmul(W_k1, X) + b_k1
    V1 = torch.matmul(W_v1, X) + b_v1
    scores1 = torch.matmul(K1.T, Q1)
    scaled1 = scores1 / math.sqrt(K1.shape[0])
    att1 = multi_head_softmax_cols(scaled1)
    out1 = torch.matmul(V1, att1)

    # second head
    Q2 = torch.matmul(W_q2, X) + b_q2
    K2 = torch.matmul(W_k2, X) + b_k2
    V2 = torch.matmul(W_v2, X) + b_v2
    scores2 = torch.matmul(K2.T, Q2)
    scaled2 = scores2 / math.sqrt(K2.shape[0])
    att2 = multi_head_softmax_cols(scaled2)
    out2 = torch.matmul(V2, att2)

    # put the heads together
    heads = torch.zeros_like(X)
    heads[: out1.shape[0]] = out1
    heads[: out1.shape[0]] = out2  # <-
    X_prime = torch.matmul(W_c, heads)
    return X_prime
