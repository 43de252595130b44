# right: sum over zip in a comprehension
def weighted_sums(all_attention_weights, all_values):
    return [sum(w * v for w, v in zip(weights, all_values)) for weights in all_attention_weights]
