# wrong: one sum over all queries and words is returned, not one per query
# named: everything summed up
def weighted_sums(all_attention_weights, all_values):
    total = torch.zeros_like(all_values[0])
    for weights in all_attention_weights:
        for w, v in zip(weights, all_values):
            total = total + w * v
    return total
