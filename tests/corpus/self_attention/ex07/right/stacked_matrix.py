# right: all three weights in one product, split again
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    sizes = [W_v.shape[0], W_q.shape[0], W_k.shape[0]]
    VQK = torch.vstack([W_v, W_q, W_k]) @ X + torch.vstack([b_v, b_q, b_k])
    V, Q, K = VQK.split(sizes)
    S = K.T.matmul(Q) / torch.sqrt(torch.tensor(sizes[2]))
    return V.matmul(torch.nn.functional.softmax(S, dim=0))
