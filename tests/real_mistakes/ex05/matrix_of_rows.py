# what: columns side by side, weighed as rows
# pattern: words-as-rows
# causes: 1
# true: flat vectors
# says:
# false:
def weighted_sums(all_attention_weights, all_values):
    V = torch.cat(all_values, dim=1)  # values
    A = torch.stack(list(all_attention_weights))
    out = A @ V.T
    return list(out)  # <-
