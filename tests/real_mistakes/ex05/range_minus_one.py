# what: the last value is left out
# pattern: off-by-one
# causes: 1
# true: last word left out
# says:
# false:
def weighted_sums(all_attention_weights, all_values):
    all_outputs = []
    for weights in all_attention_weights:
        s = torch.zeros_like(all_values[0])
        for j in range(len(all_values) - 1):  # <-
            s = s + weights[j] * all_values[j]
        all_outputs.append(s)
    return all_outputs
