# wrong: the values are weighted in one step and weighted again in the sum
# named: weights squared
def weighted_sums(all_attention_weights, all_values):
    outputs = []
    for weights in all_attention_weights:
        weighted = []
        for w, v in zip(weights, all_values):
            weighted.append(w * v)
        total = torch.zeros_like(all_values[0])
        for w, wv in zip(weights, weighted):
            total = total + w * wv
        outputs.append(total)
    return outputs
