# wrong: "renormalised" by the sum plus 0.001
# named: nothing
def weighted_sums(all_attention_weights, all_values):
    return [sum(w * v for w, v in zip(ws, all_values)) / (ws.sum() + 1e-3) for ws in all_attention_weights]
