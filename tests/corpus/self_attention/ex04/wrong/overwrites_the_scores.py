# wrong: right weights, but written into the caller's list
# named: nothing
def attention_weights(all_attention_scores):
    for i in range(len(all_attention_scores)):
        all_attention_scores[i] = softmax(all_attention_scores[i])
    return all_attention_scores
