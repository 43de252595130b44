# what: zip(*) turns the table around
# pattern: missing-transpose
# causes: 1
# true: softmax over queries, one list per key
# says:
# false:
def attention_weights(all_attention_scores):
    all_weights = []
    for scores in zip(*all_attention_scores):  # <-
        all_weights.append(softmax(torch.stack(scores)))
    return all_weights
