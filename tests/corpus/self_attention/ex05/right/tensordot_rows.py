# right: rows inside, transposed back at the end
def weighted_sums(all_attention_weights, all_values):
    rows = torch.vstack([v.T for v in all_values])  # (N, D)
    return [torch.tensordot(w, rows, dims=1)[None, :].T for w in all_attention_weights]
