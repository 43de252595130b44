# wrong: the notebook's N
# named: the notebook's variables
def attention_weights(all_attention_scores):
    weights = []
    for n in range(N):
        weights.append(softmax(all_attention_scores[n]))
    return weights
