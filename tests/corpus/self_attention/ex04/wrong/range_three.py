# wrong: three queries are hard-coded
# named: nothing
def attention_weights(all_attention_scores):
    return [softmax(all_attention_scores[i]) for i in range(3)]
