# wrong: scaled once more, with the notebook's D
# named: nothing
def attention_weights(all_attention_scores):
    return [softmax([x / math.sqrt(D) for x in s]) for s in all_attention_scores]
