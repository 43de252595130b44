# wrong: off by one, the last value is never added
# named: last word left out
def weighted_sums(all_attention_weights, all_values):
    outs = []
    for weights in all_attention_weights:
        total = torch.zeros_like(all_values[0])
        for i in range(len(all_values) - 1):
            total = total + weights[i] * all_values[i]
        outs.append(total)
    return outs
