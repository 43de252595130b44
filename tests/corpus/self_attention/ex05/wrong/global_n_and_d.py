# wrong: the notebook's N and D
# named: the notebook's variables
def weighted_sums(all_attention_weights, all_values):
    outs = []
    for n in range(N):
        total = torch.zeros(D, 1)
        for m in range(N):
            total += all_attention_weights[n][m] * all_values[m]
        outs.append(total)
    return outs
