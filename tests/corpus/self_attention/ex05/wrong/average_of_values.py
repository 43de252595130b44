# wrong: the average of the values, the weights are not used
# named: plain average
def weighted_sums(all_attention_weights, all_values):
    outputs = []
    for weights in all_attention_weights:
        total = torch.zeros_like(all_values[0])
        for value in all_values:
            total = total + value
        outputs.append(total / len(weights))
    return outputs
