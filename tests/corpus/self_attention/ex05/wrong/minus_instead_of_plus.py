# wrong: -= where += was meant
# named: sign flipped
def weighted_sums(all_attention_weights, all_values):
    result = []
    for weights in all_attention_weights:
        acc = torch.zeros(all_values[0].shape)
        for j in range(len(all_values)):
            acc -= weights[j] * all_values[j]
        result.append(acc)
    return result
