# wrong: the formula for rows, Q K.T and a softmax along rows, in both heads, a d x d matrix that happens to fit in front of V
# named: dimensions compared, by the formula for rows
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    def head(W_v, W_q, W_k, b_v, b_q, b_k):
        V, Q, K = W_v @ X + b_v, W_q @ X + b_q, W_k @ X + b_k
        return torch.softmax(Q @ K.T / math.sqrt(K.shape[0]), dim=1) @ V

    first = head(W_v1, W_q1, W_k1, b_v1, b_q1, b_k1)
    second = head(W_v2, W_q2, W_k2, b_v2, b_q2, b_k2)
    return W_c @ torch.cat([first, second])
