# what: nothing is returned
# pattern: no-return
# causes: 1
# true:
# says: no return|returns? None|returned None
# false: cannot be read|inputs of other sizes
def weighted_sums(all_attention_weights, all_values):
    all_outputs = []
    for weights in all_attention_weights:
        all_outputs.append(sum(w * v for w, v in zip(weights, all_values)))  # <-
