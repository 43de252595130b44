# right: a loop over the rows, each cut and padded with zeros
def mask_then_renormalize(attn_weights):
    rows = []
    for i, row in enumerate(attn_weights):
        seen = row[: i + 1]
        rows.append(F.pad(seen / seen.sum(), (0, len(row) - i - 1)))
    return torch.stack(rows)


def causal_softmax(attn_scores, d_k):
    rows = []
    for i, row in enumerate(attn_scores):
        seen = torch.softmax(row[: i + 1] / d_k**0.5, dim=0)
        rows.append(torch.cat([seen, row.new_zeros(len(row) - i - 1)]))
    return torch.stack(rows)
