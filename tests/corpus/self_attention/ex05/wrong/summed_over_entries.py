# wrong: summed over the D entries instead of over the words
# named: nothing
def weighted_sums(all_attention_weights, all_values):
    V = torch.cat(list(all_values), dim=1)
    return [(V * w).sum(dim=0).reshape(-1, 1) for w in all_attention_weights]
