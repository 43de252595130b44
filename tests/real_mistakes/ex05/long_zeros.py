# what: the sum is a tensor of whole numbers
# pattern: dtype
# causes: 1
# true:
# says: whole|integer|int64|long|dtype
# false:
def weighted_sums(all_attention_weights, all_values):
    all_outputs = []
    for weights in all_attention_weights:
        output = torch.zeros(all_values[0].shape, dtype=torch.int64)  # <-
        for weight, value in zip(weights, all_values):
            output += (weight * value).long()  # <-
        all_outputs.append(output)
    return all_outputs
