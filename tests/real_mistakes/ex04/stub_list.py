# what: the first list is returned empty
# pattern: stub-variable
# causes: 1
# true:
# says: weights`.*never|empty
# false:
def attention_weights(all_attention_scores):
    all_weights = []
    weights = [softmax(torch.stack(s)) for s in all_attention_scores]
    return all_weights  # <-
