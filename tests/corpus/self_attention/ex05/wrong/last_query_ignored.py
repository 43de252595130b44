# wrong: off by one in the outer loop, the last query gets no output
# named: last query left out
def weighted_sums(all_attention_weights, all_values):
    n = len(all_attention_weights)
    outputs = []
    for i in range(0, n - 1):
        terms = [all_attention_weights[i][j] * all_values[j] for j in range(n)]
        outputs.append(torch.stack(terms).sum(dim=0))
    return outputs
