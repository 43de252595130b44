# right: recursion over the words
def _sum_from(weights, values, i):
    if i == len(values) - 1:
        return weights[i] * values[i]
    return weights[i] * values[i] + _sum_from(weights, values, i + 1)


def weighted_sums(all_attention_weights, all_values):
    return [_sum_from(w, all_values, 0) for w in all_attention_weights]
