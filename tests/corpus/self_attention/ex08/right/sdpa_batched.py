# right: F.scaled_dot_product_attention with a head dimension, rows inside
import torch.nn.functional as F


def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    x = X.T
    q = torch.stack([F.linear(x, W_q1, b_q1.flatten()), F.linear(x, W_q2, b_q2.flatten())])
    k = torch.stack([F.linear(x, W_k1, b_k1.flatten()), F.linear(x, W_k2, b_k2.flatten())])
    v = torch.stack([F.linear(x, W_v1, b_v1.flatten()), F.linear(x, W_v2, b_v2.flatten())])
    out = F.scaled_dot_product_attention(q, k, v)  # (2, N, d)
    out = out.permute(1, 0, 2).reshape(x.shape[0], -1)
    return (out @ W_c.T).T
