# wrong: all_attention_scores[0] in the loop, so every row is that of the first query
# named: first query only
def attention_weights(all_attention_scores):
    weights = []
    for n in range(len(all_attention_scores)):
        weights.append(softmax(all_attention_scores[0]))
    return weights
