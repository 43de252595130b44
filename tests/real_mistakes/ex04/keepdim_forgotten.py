# what: the sums of rows divide columns
# pattern: wrong-axis
# causes: 1
# true:
# says: keepdim|sums? .*(loses|dimension)|column
# false: over the queries|of one key
def attention_weights(all_attention_scores):
    table = torch.stack([torch.stack(row) for row in all_attention_scores])
    exps = torch.exp(table)
    weights = exps / exps.sum(dim=1)  # <-
    return list(weights)
