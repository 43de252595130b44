# wrong: SyntaxError, the closing bracket of the comprehension is missing
def attention_weights(all_attention_scores):
    return [softmax(s) for s in all_attention_scores
