# right: torch.nn.functional.linear on rows, transposed back
import torch.nn.functional as F


def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    rows = torch.cat([x.T for x in all_x])  # N x D
    Q = F.linear(rows, W_q, b_q.flatten())
    K = F.linear(rows, W_k, b_k.flatten())
    V = F.linear(rows, W_v, b_v.flatten())
    return [r.reshape(-1, 1) for r in Q], [r.reshape(-1, 1) for r in K], [r.reshape(-1, 1) for r in V]
