# wrong: mask_then_renormalize: the largest weight of each row becomes one
# named: divided by the largest
def mask_then_renormalize(attn_weights):
    masked = torch.tril(attn_weights)
    rows = []
    for row in masked:
        rows.append(row / row.max())
    return torch.stack(rows)


def causal_softmax(attn_scores, d_k):
    rows = []
    for i, row in enumerate(attn_scores / d_k**0.5):
        weights = torch.softmax(row[: i + 1], dim=0)
        rows.append(F.pad(weights, (0, len(row) - i - 1)))
    return torch.stack(rows)
