# wrong: fresh nn.Linear layers instead of the given weights
# named: nothing
import torch.nn as nn


def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    d = all_x[0].shape[0]
    lin_q, lin_k, lin_v = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)
    with torch.no_grad():
        q = [lin_q(x.T).T for x in all_x]
        k = [lin_k(x.T).T for x in all_x]
        v = [lin_v(x.T).T for x in all_x]
    return q, k, v
