# wrong: right numbers with an extra leading dimension
# named: nothing
def weighted_sums(all_attention_weights, all_values):
    V = torch.stack(list(all_values))
    return [(w[:, None, None] * V).sum(dim=0, keepdim=True) for w in all_attention_weights]
