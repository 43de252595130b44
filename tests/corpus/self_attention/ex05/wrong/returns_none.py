# wrong: prints instead of returning
# named: nothing
def weighted_sums(all_attention_weights, all_values):
    for ws in all_attention_weights:
        print(sum(w * v for w, v in zip(ws, all_values)))
