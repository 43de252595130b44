# right: recursion over the queries
def attention_weights(all_attention_scores):
    if len(all_attention_scores) == 0:
        return []
    return [softmax(all_attention_scores[0])] + attention_weights(all_attention_scores[1:])
