# wrong: the word's own value is added to the result
# named: value added
def weighted_sums(all_attention_weights, all_values):
    outs = []
    for n, ws in enumerate(all_attention_weights):
        outs.append(all_values[n] + sum(w * v for w, v in zip(ws, all_values)))
    return outs
