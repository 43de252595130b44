# wrong: the notebook's N
# named: nothing
def attention_weights(all_attention_scores):
    weights = []
    for n in range(N):
        weights.append(softmax(all_attention_scores[n]))
    return weights
