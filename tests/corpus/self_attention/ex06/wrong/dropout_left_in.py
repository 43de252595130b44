# wrong: sdpa with dropout
# named: nothing
import torch.nn.functional as F


def self_attention(all_queries, all_keys, all_values):
    q, k, v = (torch.cat(list(t), 1).T for t in (all_queries, all_keys, all_values))
    out = F.scaled_dot_product_attention(q, k, v, dropout_p=0.5)
    return [o.unsqueeze(1) for o in out]
