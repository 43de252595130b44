# right: float64 inside, cast back to the type of X
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    dtype = X.dtype
    X64 = X.double()
    Q = W_q.double() @ X64 + b_q.double()
    K = W_k.double() @ X64 + b_k.double()
    V = W_v.double() @ X64 + b_v.double()
    scores = K.T @ Q
    scores /= math.sqrt(Q.shape[0])
    weights = torch.exp(scores - torch.logsumexp(scores, dim=0, keepdim=True))
    return (V @ weights).to(dtype)
