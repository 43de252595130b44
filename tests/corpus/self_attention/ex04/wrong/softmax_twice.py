# wrong: softmax of softmax
# named: applied twice
def attention_weights(all_attention_scores):
    return [softmax(softmax(s)) for s in all_attention_scores]
