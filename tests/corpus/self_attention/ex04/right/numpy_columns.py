# right: numpy, queries as columns inside, transposed back
import numpy as np


def attention_weights(all_attention_scores):
    S = np.array([[float(v) for v in row] for row in all_attention_scores]).T
    S = np.exp(S - S.max(axis=0))
    W = S / S.sum(axis=0)
    return [torch.from_numpy(col.copy()).float() for col in W.T]
