# wrong: goes through as many values as there are queries
# named: as many keys as queries assumed
def weighted_sums(all_attention_weights, all_values):
    N = len(all_attention_weights)
    outputs = []
    for n in range(N):
        total = torch.zeros_like(all_values[0])
        for m in range(N):
            total = total + all_attention_weights[n][m] * all_values[m]
        outputs.append(total)
    return outputs
