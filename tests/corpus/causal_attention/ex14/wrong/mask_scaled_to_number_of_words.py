# wrong: mask_then_renormalize: one factor for the whole matrix, so that all weights together sum to the number of words
# named: everything scaled to the number of words
def mask_then_renormalize(attn_weights):
    masked = torch.tril(attn_weights)
    T = masked.shape[0]
    # every row should sum to one, so T rows sum to T
    factor = T / torch.sum(masked)
    return masked * factor


def causal_softmax(attn_scores, d_k):
    rows = []
    for i, row in enumerate(attn_scores / d_k**0.5):
        weights = torch.softmax(row[: i + 1], dim=0)
        rows.append(F.pad(weights, (0, len(row) - i - 1)))
    return torch.stack(rows)
