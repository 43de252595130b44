# wrong: rounded to two decimals
# named: nothing
def weighted_sums(all_attention_weights, all_values):
    return [torch.round(sum(w * v for w, v in zip(ws, all_values)), decimals=2) for ws in all_attention_weights]
