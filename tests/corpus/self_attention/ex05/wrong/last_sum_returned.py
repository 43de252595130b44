# wrong: the sum is overwritten for every query, that of the last query comes back alone
# named: last output only
def weighted_sums(all_attention_weights, all_values):
    for weights in all_attention_weights:
        output = torch.zeros_like(all_values[0])
        for w, v in zip(weights, all_values):
            output = output + w * v
    return output
