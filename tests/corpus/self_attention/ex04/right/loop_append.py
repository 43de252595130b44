# right: a loop that appends the softmax of each query's scores
def attention_weights(all_attention_scores):
    all_attention_weights = []
    for scores in all_attention_scores:
        all_attention_weights.append(softmax(scores))
    return all_attention_weights
