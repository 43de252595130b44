# what: scaled by the notebook's inputs
# pattern: notebook-variables
# causes: 1
# true: the notebook's variables
# says: from the notebook|`inputs`
# false: whatever (d|D|the sizes|d_out|head)|hard-coded
def mask_then_renormalize(attn_weights):
    n = attn_weights.shape[0]
    # simple mask: ones where it may look
    mask_simple = torch.tril(torch.ones(n, n))
    masked_simple = attn_weights * mask_simple
    row_sums = masked_simple.sum(dim=-1, keepdim=True)
    masked_simple_norm = masked_simple / row_sums
    return masked_simple_norm


def causal_softmax(attn_scores, d_k):
    n = attn_scores.shape[0]
    mask = torch.triu(torch.ones(n, n), diagonal=1)
    masked = attn_scores.masked_fill(mask.bool(), -torch.inf)
    scaled = masked / inputs.shape[1] ** 0.5  # <-
    return torch.softmax(scaled, dim=-1)
