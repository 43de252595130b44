# wrong: = instead of +=, only the last word counts
# named: last term only
def weighted_sums(all_attention_weights, all_values):
    outs = []
    for weights in all_attention_weights:
        for w, v in zip(weights, all_values):
            total = w * v
        outs.append(total)
    return outs
