# right: matrix of values times each weight vector as a column
def weighted_sums(all_attention_weights, all_values):
    V = torch.cat(list(all_values), dim=1)  # (D, N)
    return [V @ w.reshape(-1, 1) for w in all_attention_weights]
