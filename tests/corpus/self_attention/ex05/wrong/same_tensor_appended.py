# wrong: one accumulator zeroed in place, all entries of the list are the same tensor
# named: last query for all
def weighted_sums(all_attention_weights, all_values):
    outs = []
    total = torch.zeros_like(all_values[0])
    for weights in all_attention_weights:
        total.zero_()
        for w, v in zip(weights, all_values):
            total += w * v
        outs.append(total)
    return outs
