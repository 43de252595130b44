# what: index 0 stayed from trying it out
# pattern: copied-line
# causes: 1
# true: first query only
# says:
# false:
def attention_weights(all_attention_scores):
    all_weights = []
    for i in range(len(all_attention_scores)):
        row = torch.stack(all_attention_scores[0])  # <-
        all_weights.append(softmax(row))
    return all_weights
