# right: one product of two matrices, split into columns
def weighted_sums(all_attention_weights, all_values):
    V = torch.hstack([v for v in all_values])
    A = torch.stack([w for w in all_attention_weights]).T
    out = torch.mm(V, A)
    return out.split(1, dim=1)
