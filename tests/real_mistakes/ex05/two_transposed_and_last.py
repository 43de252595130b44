# what: weights [j][i], the last query left out
# pattern: two
# causes: 2
# true: weights transposed | last query left out
# says:
# false:
def weighted_sums(all_attention_weights, all_values):
    outs = []
    for i in range(len(all_attention_weights) - 1):  # <-
        total = torch.zeros_like(all_values[0])
        for j in range(len(all_values)):
            total = total + all_attention_weights[j][i] * all_values[j]  # <-
        outs.append(total)
    return outs
