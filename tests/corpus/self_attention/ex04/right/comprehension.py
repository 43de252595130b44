# right: one list comprehension over the own softmax
def attention_weights(all_attention_scores):
    return [softmax(s) for s in all_attention_scores]
