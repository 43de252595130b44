# wrong: weights and values are cast to float16
# named: nothing
def weighted_sums(all_attention_weights, all_values):
    outs = []
    for ws in all_attention_weights:
        outs.append(sum(w * v for w, v in zip(ws.half(), [v.half() for v in all_values])).float())
    return outs
