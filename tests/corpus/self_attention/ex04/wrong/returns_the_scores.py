# wrong: computes the weights, returns the scores
# named: scores returned
def attention_weights(all_attention_scores):
    all_attention_weights = []
    for scores in all_attention_scores:
        all_attention_weights.append(softmax(scores))
    return all_attention_scores
