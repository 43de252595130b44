# wrong: off by one, the last score of every query is dropped
# named: nothing
def attention_weights(all_attention_scores):
    return [softmax(s[:-1]) for s in all_attention_scores]
