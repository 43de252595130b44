# what: return after the first query
# pattern: return-in-loop
# causes: 1
# true: first output only
# says: first query|after the first|inside
# false: last output|overwrites
def weighted_sums(all_attention_weights, all_values):
    all_outputs = []
    for weights in all_attention_weights:
        output = torch.zeros_like(all_values[0])
        for w, v in zip(weights, all_values):
            output = output + w * v
        all_outputs.append(output)
        return all_outputs  # <-
