# wrong: the variable is overwritten, only the last query's weights come back
# named: nothing
def attention_weights(all_attention_scores):
    for s in all_attention_scores:
        weights = softmax(s)
    return weights
