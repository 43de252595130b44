# wrong: the weighted sums are computed, the values are returned
# named: values returned
def weighted_sums(all_attention_weights, all_values):
    sums = []
    for weights in all_attention_weights:
        sums.append(sum(w * v for w, v in zip(weights, all_values)))
    return all_values
