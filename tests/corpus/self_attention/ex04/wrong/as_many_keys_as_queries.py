# wrong: goes through as many scores as there are queries
# named: as many keys as queries assumed
def attention_weights(all_attention_scores):
    N = len(all_attention_scores)
    return [softmax([row[m] for m in range(N)]) for row in all_attention_scores]
