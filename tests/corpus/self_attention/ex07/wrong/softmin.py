# wrong: a minus before the scores
# named: sign flipped
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    Q, K, V = W_q @ X + b_q, W_k @ X + b_k, W_v @ X + b_v
    scores = -torch.einsum("dm,dn->mn", K, Q) / math.sqrt(Q.shape[0])
    return V @ softmax_cols(scores)
