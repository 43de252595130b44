# wrong: the result is prepared with zeros and only head 1 is written into it
# named: second head empty
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    head_dim = W_v1.shape[0]
    Y = torch.zeros(X.shape)
    head1 = scaled_dot_product_self_attention(X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1)
    head2 = scaled_dot_product_self_attention(X, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2)
    for i in range(head_dim):
        Y[i] = head1[i]
    return W_c @ Y
