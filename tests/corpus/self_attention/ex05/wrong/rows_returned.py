# wrong: right numbers as rows (1, D)
# named: row vectors
def weighted_sums(all_attention_weights, all_values):
    V = torch.cat([v.T for v in all_values])
    return [w.reshape(1, -1) @ V for w in all_attention_weights]
