# A loop that never ends in exercise 5, a name that does not exist in exercise 6.
def weighted_sums(all_attention_weights, all_values):
    outputs, i = [], 0
    while i < len(all_values):
        outputs.append(sum(w * v for w, v in zip(all_attention_weights[i], all_values)))
    return outputs


def self_attention(all_queries, all_keys, all_values):
    weights = attention_weights(attention_scores(all_queries, all_keys))
    return weighted_sums(wieghts, all_values)
