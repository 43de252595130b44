# what: softmax of the whole table
# pattern: wrong-axis
# causes: 1
# true: softmax over everything
# says:
# false:
def attention_weights(all_attention_scores):
    table = torch.stack([torch.stack(row) for row in all_attention_scores])
    total = torch.exp(table).sum()  # <-
    return [torch.exp(row) / total for row in table]
