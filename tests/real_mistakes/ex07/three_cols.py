# what: not scaled, values without bias, softmax over keys rows
# pattern: three
# causes: 3
# true: not scaled | values without bias | softmax along rows
# says:
# false:
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    V = torch.matmul(W_v, X)  # <-
    Q = torch.matmul(W_q, X) + b_q
    K = torch.matmul(W_k, X) + b_k
    S = torch.matmul(K.T, Q)  # <-
    A = torch.softmax(S, dim=1)  # <-
    return torch.matmul(V, A)
