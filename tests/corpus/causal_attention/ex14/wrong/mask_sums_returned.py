# wrong: mask_then_renormalize: the sums of the rows are returned as a column, nothing is divided
# named: sums returned
def mask_then_renormalize(attn_weights):
    masked_simple = torch.tril(attn_weights)
    row_sums = masked_simple.sum(dim=-1, keepdim=True)
    return row_sums


def causal_softmax(attn_scores, d_k):
    T = attn_scores.shape[-1]
    i = torch.arange(T, device=attn_scores.device)
    scaled = attn_scores / math.sqrt(d_k)
    return F.softmax(torch.where(i[None, :] > i[:, None], -math.inf, scaled), dim=-1)
