# what: the argument is returned, the weights are not
# pattern: unused-result
# causes: 1
# true: scores returned
# says: all_weights
# false: whatever
def attention_weights(all_attention_scores):
    all_weights = []
    for scores in all_attention_scores:
        w = torch.softmax(torch.stack(scores), dim=-1)
        all_weights.append(w)
    return all_attention_scores  # <-
