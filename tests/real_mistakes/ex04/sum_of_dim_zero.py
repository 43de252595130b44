# what: the sum runs over the queries
# pattern: wrong-axis
# causes: 1
# true: softmax over queries
# says:
# false:
def attention_weights(all_attention_scores):
    table = torch.stack([torch.stack(row) for row in all_attention_scores])
    exps = torch.exp(table)
    weights = exps / exps.sum(dim=0, keepdim=True)  # <-
    return list(weights)
