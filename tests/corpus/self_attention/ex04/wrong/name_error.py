# wrong: a variable that does not exist
# named: nothing
def attention_weights(all_attention_scores):
    weights = []
    for scores in all_attention_scores:
        weights.append(softmax(score))
    return weights
