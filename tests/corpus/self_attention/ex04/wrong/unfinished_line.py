# wrong: SyntaxError, the closing bracket of the comprehension is missing
# named: nothing
def attention_weights(all_attention_scores):
    return [softmax(s) for s in all_attention_scores
