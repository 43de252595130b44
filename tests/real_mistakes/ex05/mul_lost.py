# what: mul without underscore: values are summed as they are
# pattern: lost-result
# causes: 1
# true:
# says: throws? .*away
# false:
# follows: values without weights
def weighted_sums(all_attention_weights, all_values):
    all_outputs = []
    for weights in all_attention_weights:
        output = torch.zeros_like(all_values[0])
        for weight, value in zip(weights, all_values):
            v = value.clone()
            v.mul(weight)  # <-
            output = output + v
        all_outputs.append(output)
    return all_outputs
