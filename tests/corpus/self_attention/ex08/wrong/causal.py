# wrong: a causal mask in both heads
# named: future hidden
import torch.nn.functional as F


def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    def attend(W_v, W_q, W_k, b_v, b_q, b_k):
        q, k, v = (W_q @ X + b_q).T, (W_k @ X + b_k).T, (W_v @ X + b_v).T
        return F.scaled_dot_product_attention(q, k, v, is_causal=True).T

    h1 = attend(W_v1, W_q1, W_k1, b_v1, b_q1, b_k1)
    h2 = attend(W_v2, W_q2, W_k2, b_v2, b_q2, b_k2)
    return W_c @ torch.cat([h1, h2])
