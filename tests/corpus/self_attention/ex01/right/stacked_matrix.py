# right: all words and all weights stacked into one product, then split again
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    X = torch.cat(all_x, dim=1)  # (D, N)
    W = torch.cat([W_q, W_k, W_v], dim=0)  # (3D, D)
    b = torch.cat([b_q, b_k, b_v], dim=0)
    QKV = W @ X + b
    Q, K, V = torch.split(QKV, [W_q.shape[0], W_k.shape[0], W_v.shape[0]], dim=0)
    return list(Q.split(1, dim=1)), list(K.split(1, dim=1)), list(V.split(1, dim=1))
