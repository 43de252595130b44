# wrong: attention_scores scales already, scaled by sqrt(D) once more
# named: divided by D
def self_attention(all_queries, all_keys, all_values):
    scores = attention_scores(all_queries, all_keys)
    d = all_queries[0].shape[0]
    scores = [[s / math.sqrt(d) for s in row] for row in scores]
    return weighted_sums(attention_weights(scores), all_values)
