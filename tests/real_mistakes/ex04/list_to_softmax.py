# what: torch.softmax of a list
# pattern: typo
# causes: 1
# true:
# says: TypeError|softmax\(scores
# false: inputs of other sizes
def attention_weights(all_attention_scores):
    all_weights = []
    for scores in all_attention_scores:
        all_weights.append(torch.softmax(scores, dim=0))  # <-
    return all_weights
