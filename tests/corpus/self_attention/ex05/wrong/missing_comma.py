# wrong: SyntaxError, a comma is missing
# named: nothing
def weighted_sums(all_attention_weights all_values):
    return [sum(w * v for w, v in zip(ws, all_values)) for ws in all_attention_weights]
