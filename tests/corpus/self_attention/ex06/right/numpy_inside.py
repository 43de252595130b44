# right: numpy in float64 inside, back to float32
import numpy as np


def self_attention(all_queries, all_keys, all_values):
    Q = np.hstack([q.numpy() for q in all_queries]).astype(np.float64)
    K = np.hstack([k.numpy() for k in all_keys]).astype(np.float64)
    V = np.hstack([v.numpy() for v in all_values]).astype(np.float64)
    S = K.T @ Q / np.sqrt(Q.shape[0])
    A = np.exp(S - S.max(axis=0, keepdims=True))
    A /= A.sum(axis=0, keepdims=True)
    out = V @ A
    return [torch.tensor(out[:, [i]], dtype=torch.float32) for i in range(out.shape[1])]
