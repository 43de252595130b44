# what: apend
# pattern: typo
# causes: 1
# true:
# says: AttributeError|apend
# false: inputs of other sizes
def attention_weights(all_attention_scores):
    all_weights = []
    for scores in all_attention_scores:
        all_weights.apend(softmax(torch.stack(scores)))  # <-
    return all_weights
