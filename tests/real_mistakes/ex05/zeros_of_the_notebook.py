# what: zeros of the notebook's size D
# pattern: notebook-variables
# causes: 1
# true: the notebook's variables
# says: reads `D`
# false: whatever D
def weighted_sums(all_attention_weights, all_values):
    all_outputs = []
    for weights in all_attention_weights:
        output = torch.zeros(D, 1)  # <-
        for w, v in zip(weights, all_values):
            output = output + w * v
        all_outputs.append(output)
    return all_outputs
