# what: return after the first value
# pattern: return-in-loop
# causes: 1
# true:
# says: inside|after the first|first value
# false: output of the first query only
def weighted_sums(all_attention_weights, all_values):
    all_outputs = []
    for weights in all_attention_weights:
        output = torch.zeros_like(all_values[0])
        for w, v in zip(weights, all_values):
            output += w * v
            all_outputs.append(output)
            return all_outputs  # <-
