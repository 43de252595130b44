# right: numpy inside, hand-written max-shifted softmax
import numpy as np


def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    X, W_v, W_q, W_k, b_v, b_q, b_k = (t.numpy() for t in (X, W_v, W_q, W_k, b_v, b_q, b_k))
    V = W_v @ X + b_v
    Q = W_q @ X + b_q
    K = W_k @ X + b_k
    S = K.T @ Q / np.sqrt(K.shape[0]).astype(K.dtype)
    E = np.exp(S - S.max(axis=0))
    return torch.from_numpy(V @ (E / E.sum(axis=0)))
