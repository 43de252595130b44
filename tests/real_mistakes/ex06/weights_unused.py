# what: weights computed, scores passed on
# pattern: unused-result
# causes: 1
# true:
# says: weights`.*never
# false:
# follows: raw scores as weights
def self_attention(all_queries, all_keys, all_values):
    scores = attention_scores(all_queries, all_keys)
    weights = attention_weights(scores)
    outputs = weighted_sums([torch.stack(list(map(torch.as_tensor, s))).flatten() for s in scores], all_values)  # <-
    return outputs
