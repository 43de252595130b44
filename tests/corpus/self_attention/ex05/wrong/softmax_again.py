# wrong: softmax on the weights once more
# named: softmax once more
def weighted_sums(all_attention_weights, all_values):
    return [sum(w * v for w, v in zip(softmax(ws), all_values)) for ws in all_attention_weights]
