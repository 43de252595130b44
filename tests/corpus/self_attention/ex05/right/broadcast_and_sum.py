# right: weights broadcast over a stack of values, sum over the words, float64 inside
def weighted_sums(all_attention_weights, all_values):
    V = torch.stack(list(all_values)).double()
    return tuple((w.double().view(-1, 1, 1) * V).sum(dim=0).float() for w in all_attention_weights)
