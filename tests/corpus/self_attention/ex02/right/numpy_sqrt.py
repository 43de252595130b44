# right: numpy vectors and np.sqrt
import numpy as np


def attention_scores(all_queries, all_keys):
    qs = [q.numpy().ravel() for q in all_queries]
    ks = [k.numpy().ravel() for k in all_keys]
    return [[torch.tensor(np.vdot(q, k) / np.sqrt(q.size)) for k in ks] for q in qs]
