# right: a tuple from a generator
def attention_weights(all_attention_scores):
    return tuple(softmax(row) for row in all_attention_scores)
