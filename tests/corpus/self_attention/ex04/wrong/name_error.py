# wrong: a variable that does not exist
def attention_weights(all_attention_scores):
    weights = []
    for scores in all_attention_scores:
        weights.append(softmax(score))
    return weights
