# what: one tensor, added to in place, stands in all places
# pattern: overwrites
# causes: 1
# true: last query for all
# says:
# false:
def weighted_sums(all_attention_weights, all_values):
    all_outputs = []
    out = torch.zeros_like(all_values[0])
    for weights in all_attention_weights:
        out.zero_()  # <-
        for weight, value in zip(weights, all_values):
            out += weight * value
        all_outputs.append(out)  # <-
    return all_outputs
