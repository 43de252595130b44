# wrong: right numbers, (1, D, N)
# named: nothing
import torch.nn.functional as F


def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    V, Q, K = b_v + W_v @ X, b_q + W_q @ X, b_k + W_k @ X
    return F.scaled_dot_product_attention(Q.T[None], K.T[None], V.T[None]).transpose(1, 2)
