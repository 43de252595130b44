# right: numpy inside, loop over zipped heads
import numpy as np


def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    x = X.numpy()
    outputs = []
    for Wv, Wq, Wk, bv, bq, bk in (
        (W_v1, W_q1, W_k1, b_v1, b_q1, b_k1),
        (W_v2, W_q2, W_k2, b_v2, b_q2, b_k2),
    ):
        v = Wv.numpy() @ x + bv.numpy()
        q = Wq.numpy() @ x + bq.numpy()
        k = Wk.numpy() @ x + bk.numpy()
        s = k.T @ q / float(np.sqrt(k.shape[0]))
        e = np.exp(s - s.max(axis=0, keepdims=True))
        outputs.append(v @ (e / e.sum(axis=0, keepdims=True)))
    return torch.from_numpy(W_c.numpy() @ np.concatenate(outputs, axis=0))
