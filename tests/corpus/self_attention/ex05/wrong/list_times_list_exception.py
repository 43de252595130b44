# wrong: multiplies the two lists, TypeError
# named: nothing
def weighted_sums(all_attention_weights, all_values):
    return [sum(ws * all_values) for ws in [list(w) for w in all_attention_weights]]
