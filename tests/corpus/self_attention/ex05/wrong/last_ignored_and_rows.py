# wrong: two mistakes, the last word ignored and rows returned
# named: last word left out + row vectors
def weighted_sums(all_attention_weights, all_values):
    return [sum(w * v.T for w, v in zip(ws[:-1], all_values[:-1])) for ws in all_attention_weights]
