# wrong: mask_then_renormalize: the mask itself is renormalised, the weights are not used
# named: equal weights
def mask_then_renormalize(attn_weights):
    mask_simple = torch.tril(torch.ones_like(attn_weights))
    row_sums = mask_simple.sum(dim=-1, keepdim=True)
    return mask_simple / row_sums


def causal_softmax(attn_scores, d_k):
    rows = []
    for i, row in enumerate(attn_scores / d_k**0.5):
        weights = torch.softmax(row[: i + 1], dim=0)
        rows.append(F.pad(weights, (0, len(row) - i - 1)))
    return torch.stack(rows)
