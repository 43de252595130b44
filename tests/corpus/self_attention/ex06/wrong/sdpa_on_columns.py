# wrong: sdpa on (D, N) matrices, so the features attend to each other
# named: nothing
import torch.nn.functional as F


def self_attention(all_queries, all_keys, all_values):
    q, k, v = (torch.cat(list(t), 1) for t in (all_queries, all_keys, all_values))
    out = F.scaled_dot_product_attention(q, k, v)
    return list(out.split(1, dim=1))
