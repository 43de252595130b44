# what: log_softmax and the last query left out
# pattern: two
# causes: 2
# true: logarithm | last query left out
# says:
# false:
def attention_weights(all_attention_scores):
    all_weights = []
    for i in range(len(all_attention_scores) - 1):  # <-
        row = torch.stack(all_attention_scores[i])
        all_weights.append(torch.log_softmax(row, dim=0))  # <-
    return all_weights
