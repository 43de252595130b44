# what: softmax over queries of the stacked table
# pattern: wrong-axis
# causes: 1
# true: softmax over queries
# says:
# false:
def attention_weights(all_attention_scores):
    table = torch.stack([torch.stack(row) for row in all_attention_scores])
    probs = torch.softmax(table, dim=0)  # <-
    return [probs[i] for i in range(probs.shape[0])]
