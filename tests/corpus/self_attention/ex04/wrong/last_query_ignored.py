# wrong: off by one, the last query gets no weights
# named: last query left out
def attention_weights(all_attention_scores):
    weights = []
    i = 0
    while i < len(all_attention_scores) - 1:
        weights.append(softmax(all_attention_scores[i]))
        i += 1
    return weights
