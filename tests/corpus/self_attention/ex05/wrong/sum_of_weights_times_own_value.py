# wrong: each value is multiplied by the sum of its word's weights, which is one
# named: values returned
def weighted_sums(all_attention_weights, all_values):
    return [weights.sum() * value for weights, value in zip(all_attention_weights, all_values)]
