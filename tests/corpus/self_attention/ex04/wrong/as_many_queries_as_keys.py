# wrong: goes through as many rows as there are scores in a row
# named: as many queries as keys assumed
def attention_weights(all_attention_scores):
    keys = len(all_attention_scores[0])
    return [softmax(all_attention_scores[n]) for n in range(keys)]
