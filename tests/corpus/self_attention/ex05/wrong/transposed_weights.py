# wrong: weights[n][m] instead of weights[m][n]
# named: weights transposed
def weighted_sums(all_attention_weights, all_values):
    outs = []
    for m in range(len(all_values)):
        total = torch.zeros_like(all_values[0])
        for n in range(len(all_values)):
            total = total + all_attention_weights[n][m] * all_values[n]
        outs.append(total)
    return outs
