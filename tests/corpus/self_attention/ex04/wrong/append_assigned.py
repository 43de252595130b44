# wrong: x = x.append(...) makes the list None, raises on the second word
# named: nothing
def attention_weights(all_attention_scores):
    weights = []
    for s in all_attention_scores:
        weights = weights.append(softmax(s))
    return weights
