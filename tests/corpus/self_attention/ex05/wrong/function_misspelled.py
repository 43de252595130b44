# wrong: the function has another name
# named: nothing
def weighted_sum(all_attention_weights, all_values):
    return [sum(w * v for w, v in zip(ws, all_values)) for ws in all_attention_weights]
