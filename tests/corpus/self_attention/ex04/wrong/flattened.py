# wrong: extend instead of append, one flat list of numbers
# named: nothing
def attention_weights(all_attention_scores):
    weights = []
    for s in all_attention_scores:
        weights.extend(softmax(s))
    return weights
