# right: list(map(...))
def attention_weights(all_attention_scores):
    return list(map(softmax, all_attention_scores))
