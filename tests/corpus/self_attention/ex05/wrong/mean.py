# wrong: divided by the number of words once more
# named: mean instead of sum
def weighted_sums(all_attention_weights, all_values):
    n = len(all_values)
    return [sum(w * v for w, v in zip(weights, all_values)) / n for weights in all_attention_weights]
