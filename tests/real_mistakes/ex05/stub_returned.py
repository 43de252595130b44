# what: the sum of the beginning is appended
# pattern: stub-variable
# causes: 1
# true:
# says: result.*never
# false: weights ignored
def weighted_sums(all_attention_weights, all_values):
    all_outputs = []
    for weights in all_attention_weights:
        output = torch.zeros_like(all_values[0])
        result = sum(w * v for w, v in zip(weights, all_values))
        all_outputs.append(output)  # <-
    return all_outputs
