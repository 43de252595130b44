# right: F.scaled_dot_product_attention on rows, transposed back
import torch.nn.functional as F


def self_attention(all_queries, all_keys, all_values):
    q, k, v = [torch.stack([t.flatten() for t in m]).unsqueeze(0) for m in (all_queries, all_keys, all_values)]
    out = F.scaled_dot_product_attention(q, k, v)[0]
    return [row.view(-1, 1) for row in out]
