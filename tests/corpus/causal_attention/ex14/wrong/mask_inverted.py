# wrong: mask_then_renormalize: the mask is one where it should be zero, so only the future is left and the last row is 0/0
# named: what may be seen hidden
def mask_then_renormalize(attn_weights):
    mask = torch.triu(torch.ones_like(attn_weights), diagonal=1)
    masked = attn_weights * mask
    return masked / masked.sum(dim=-1, keepdim=True)


def causal_softmax(attn_scores, d_k):
    rows = []
    for i, row in enumerate(attn_scores / d_k**0.5):
        weights = torch.softmax(row[: i + 1], dim=0)
        rows.append(F.pad(weights, (0, len(row) - i - 1)))
    return torch.stack(rows)
