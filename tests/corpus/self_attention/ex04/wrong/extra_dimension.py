# wrong: every tensor is (1, N)
# named: nothing
def attention_weights(all_attention_scores):
    return [softmax(s).unsqueeze(0) for s in all_attention_scores]
