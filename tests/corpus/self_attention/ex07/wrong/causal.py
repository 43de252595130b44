# wrong: a causal mask
# named: future hidden
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    V, Q, K = b_v + W_v @ X, b_q + W_q @ X, b_k + W_k @ X
    S = K.T @ Q / math.sqrt(Q.shape[0])
    S = S.masked_fill(torch.ones_like(S).tril(-1).bool(), -torch.inf)
    return V @ torch.softmax(S, dim=0)
