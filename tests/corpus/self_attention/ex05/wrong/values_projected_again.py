# wrong: the notebook's W_v and b_v are applied once more
# named: nothing
def weighted_sums(all_attention_weights, all_values):
    return [sum(w * (b_v + W_v @ v) for w, v in zip(ws, all_values)) for ws in all_attention_weights]
