# wrong: the values are taken in reverse order
# named: values reversed
def weighted_sums(all_attention_weights, all_values):
    return [sum(w * v for w, v in zip(ws, all_values[::-1])) for ws in all_attention_weights]
