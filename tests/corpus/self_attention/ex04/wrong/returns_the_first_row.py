# wrong: the function returns in the first turn of the loop, with the bare weights of one query
# named: one query's weights only
def attention_weights(all_attention_scores):
    for scores in all_attention_scores:
        weights = softmax(scores)
        return weights
