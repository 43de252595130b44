# wrong: weighted values are concatenated instead of added
# named: nothing
def weighted_sums(all_attention_weights, all_values):
    return [torch.cat([w * v for w, v in zip(weights, all_values)], dim=0) for weights in all_attention_weights]
