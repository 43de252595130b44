# what: stacked as rows
# pattern: words-as-rows
# causes: 1
# true: row vectors
# says:
# false:
def weighted_sums(all_attention_weights, all_values):
    V = torch.cat([v.T for v in all_values], dim=0)
    A = torch.stack(list(all_attention_weights))
    out = A @ V
    return [out[i].unsqueeze(0) for i in range(len(out))]  # <-
