# right: double loop, starting from zeros like the first value
def weighted_sums(all_attention_weights, all_values):
    all_outputs = []
    for weights in all_attention_weights:
        output = torch.zeros_like(all_values[0])
        for i in range(len(all_values)):
            output = output + weights[i] * all_values[i]
        all_outputs.append(output)
    return all_outputs
