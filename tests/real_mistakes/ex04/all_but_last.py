# what: the last query is left out
# pattern: off-by-one
# causes: 1
# true: last query left out
# says:
# false:
def attention_weights(all_attention_scores):
    all_weights = []
    for i in range(len(all_attention_scores) - 1):  # <-
        all_weights.append(softmax(torch.stack(all_attention_scores[i])))
    return all_weights
