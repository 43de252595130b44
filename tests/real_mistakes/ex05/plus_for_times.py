# what: weight + value
# pattern: operator
# causes: 1
# true:
# says: add the weight|weight \+ value|[Mm]ultiply
# false: without weights|word's own value|one by one|value added
def weighted_sums(all_attention_weights, all_values):
    all_outputs = []
    for weights in all_attention_weights:
        output = torch.zeros_like(all_values[0])
        for weight, value in zip(weights, all_values):
            output = output + (weight + value)  # <-
        all_outputs.append(output)
    return all_outputs
