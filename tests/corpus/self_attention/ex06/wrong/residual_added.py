# wrong: the query is added to the output
# named: nothing
def self_attention(all_queries, all_keys, all_values):
    out = weighted_sums(attention_weights(attention_scores(all_queries, all_keys)), all_values)
    return [q + o for q, o in zip(all_queries, out)]
