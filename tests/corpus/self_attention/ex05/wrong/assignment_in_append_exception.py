# wrong: an assignment inside append(), which python reads as a keyword argument, TypeError
# named: nothing
def weighted_sums(all_attention_weights, all_values):
    outs = []
    for ws in all_attention_weights:
        outs.append(total = sum(w * v for w, v in zip(ws, all_values)))
    return outs
