# what: = for +=
# pattern: overwrites
# causes: 1
# true: last term only
# says:
# false:
def weighted_sums(all_attention_weights, all_values):
    all_outputs = []
    for weights in all_attention_weights:
        output = torch.zeros_like(all_values[0])
        for weight, value in zip(weights, all_values):
            output = weight * value  # <-
        all_outputs.append(output)
    return all_outputs
