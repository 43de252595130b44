# wrong: only the value with the largest weight
# named: best value only
def weighted_sums(all_attention_weights, all_values):
    return [all_values[int(torch.argmax(w))] for w in all_attention_weights]
