# what: add without underscore: the zeros stay
# pattern: lost-result
# causes: 1
# true:
# says: throws? .*away
# false: whatever the weights|weights ignored
def weighted_sums(all_attention_weights, all_values):
    all_outputs = []
    for weights in all_attention_weights:
        output = torch.zeros_like(all_values[0])
        for weight, value in zip(weights, all_values):
            output.add(weight * value)  # <-
        all_outputs.append(output)
    return all_outputs
