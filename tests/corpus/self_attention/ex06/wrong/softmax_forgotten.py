# wrong: the scores are used as weights
# named: raw scores as weights
def self_attention(all_queries, all_keys, all_values):
    scores = attention_scores(all_queries, all_keys)
    return weighted_sums([torch.as_tensor(s) for s in scores], all_values)
