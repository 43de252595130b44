# wrong: return stands in the outer loop, so the first sum comes back alone
# named: first output only
def weighted_sums(all_attention_weights, all_values):
    for weights in all_attention_weights:
        s = 0
        for j in range(len(all_values)):
            s = s + all_values[j] * weights[j]
        return s
