# right: a loop over the columns of the queries, filling an own tensor
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    N = X.shape[1]
    Q = torch.mm(W_q, X) + b_q
    K = torch.mm(W_k, X) + b_k
    V = torch.mm(W_v, X) + b_v
    out = torch.zeros(V.shape[0], N)
    for n in range(N):
        q = Q[:, n]
        s = torch.zeros(N)
        for m in range(N):
            s[m] = torch.dot(K[:, m], q) / math.sqrt(len(q))
        a = softmax(s)
        for m in range(N):
            out[:, n] += a[m] * V[:, m]
    return out
