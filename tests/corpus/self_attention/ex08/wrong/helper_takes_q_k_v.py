# wrong: the own helper takes W_q, W_k, W_v, but is called with W_v, W_q, W_k
# named: parameters in q, k, v order
def one_head(X, W_q, W_k, W_v, b_q, b_k, b_v):
    Q = W_q @ X + b_q
    K = W_k @ X + b_k
    V = W_v @ X + b_v
    return V @ torch.softmax(K.T @ Q / math.sqrt(Q.shape[0]), dim=0)


def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    head1 = one_head(X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1)
    head2 = one_head(X, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2)
    return W_c @ torch.cat([head1, head2])
