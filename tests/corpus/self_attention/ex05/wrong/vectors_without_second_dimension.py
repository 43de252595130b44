# wrong: right numbers, but the sums are vectors of D entries, not columns
# named: flat vectors
def weighted_sums(all_attention_weights, all_values):
    D_v = all_values[0].shape[0]
    outputs = []
    for weights in all_attention_weights:
        output = torch.zeros(D_v)
        for j, value in enumerate(all_values):
            for d in range(D_v):
                output[d] += weights[j] * value[d, 0]
        outputs.append(output)
    return outputs
