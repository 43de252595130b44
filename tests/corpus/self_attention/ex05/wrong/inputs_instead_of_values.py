# wrong: weighs the notebook's all_x instead of the values
# named: the notebook's variables
def weighted_sums(all_attention_weights, all_values):
    return [sum(w * x for w, x in zip(weights, all_x)) for weights in all_attention_weights]
