# what: a name that does not exist
# pattern: typo
# causes: 1
# true:
# says: NameError|`val`
# false: inputs of other sizes
def weighted_sums(all_attention_weights, all_values):
    all_outputs = []
    for weights in all_attention_weights:
        output = torch.zeros_like(all_values[0])
        for weight, value in zip(weights, all_values):
            output = output + weight * val  # <-
        all_outputs.append(output)
    return all_outputs
