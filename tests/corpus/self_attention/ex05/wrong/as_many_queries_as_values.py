# wrong: one result for every value, where there may be another number of queries
# named: as many queries as keys assumed
def weighted_sums(all_attention_weights, all_values):
    results = []
    for n, _ in enumerate(all_values):
        total = torch.zeros_like(all_values[0])
        for weight, value in zip(all_attention_weights[n], all_values):
            total = total + weight * value
        results.append(total)
    return results
