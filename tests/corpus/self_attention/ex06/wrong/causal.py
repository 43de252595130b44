# wrong: sdpa with is_causal=True
# named: future hidden
import torch.nn.functional as F


def self_attention(all_queries, all_keys, all_values):
    q, k, v = (torch.cat(list(t), 1).T for t in (all_queries, all_keys, all_values))
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return [o.unsqueeze(1) for o in out]
