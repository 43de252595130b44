# wrong: causal_softmax: right weights, returned with the queries as columns
# named: result transposed
def mask_then_renormalize(attn_weights):
    keep = torch.ones_like(attn_weights).tril()
    return F.normalize(attn_weights * keep, p=1, dim=1)


def causal_softmax(attn_scores, d_k):
    columns = torch.zeros_like(attn_scores)
    for q, row in enumerate(attn_scores):
        columns[: q + 1, q] = torch.softmax(row[: q + 1] / math.sqrt(d_k), dim=0)
    return columns
