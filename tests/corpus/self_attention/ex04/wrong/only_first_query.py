# wrong: return inside the loop, only the first query
# named: first query's list
def attention_weights(all_attention_scores):
    weights = []
    for s in all_attention_scores:
        weights.append(softmax(s))
        return weights
