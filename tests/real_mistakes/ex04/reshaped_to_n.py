# what: reshaped to (N, N) of the notebook
# pattern: notebook-variables
# causes: 1
# true: the notebook's variables
# says: reads `N`
# false: one row
def attention_weights(all_attention_scores):
    flat = [s for row in all_attention_scores for s in row]
    table = torch.stack(flat).view(N, N)  # <-
    return [softmax(row) for row in table]
