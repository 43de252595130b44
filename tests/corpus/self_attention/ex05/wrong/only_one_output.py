# wrong: return inside the outer loop
# named: nothing
def weighted_sums(all_attention_weights, all_values):
    outs = []
    for ws in all_attention_weights:
        outs.append(sum(w * v for w, v in zip(ws, all_values)))
        return outs
