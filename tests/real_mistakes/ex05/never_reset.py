# what: the sum is never set back
# pattern: overwrites
# causes: 1
# true: sums that go on
# says:
# false:
def weighted_sums(all_attention_weights, all_values):
    all_outputs = []
    output = torch.zeros_like(all_values[0])  # <-
    for weights in all_attention_weights:
        for weight, value in zip(weights, all_values):
            output = output + weight * value
        all_outputs.append(output)
    return all_outputs
