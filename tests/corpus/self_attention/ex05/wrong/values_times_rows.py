# wrong: V @ A with the weights in rows, the matrix form of the transposed weights
# named: weights transposed
def weighted_sums(all_attention_weights, all_values):
    V = torch.cat(list(all_values), dim=1)
    A = torch.stack(list(all_attention_weights))
    return list((V @ A).split(1, dim=1))
