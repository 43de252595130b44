# what: V @ A with rows of A for queries
# pattern: missing-transpose
# causes: 1
# true: weights transposed
# says:
# false:
def weighted_sums(all_attention_weights, all_values):
    V = torch.cat(all_values, dim=1)
    A = torch.stack(list(all_attention_weights))
    out = V @ A  # <-
    return [out[:, i:i + 1] for i in range(out.shape[1])]
