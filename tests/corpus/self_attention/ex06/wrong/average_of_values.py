# wrong: the weights are computed and forgotten, every output is the average of the values
# named: plain average
def self_attention(all_queries, all_keys, all_values):
    scores = attention_scores(all_queries, all_keys)
    weights = attention_weights(scores)
    average = torch.stack(list(all_values)).mean(dim=0)
    return [average for query in all_queries]
