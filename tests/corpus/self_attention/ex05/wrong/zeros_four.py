# wrong: zeros(4, 1) is hard-coded
# named: nothing
def weighted_sums(all_attention_weights, all_values):
    outs = []
    for weights in all_attention_weights:
        total = torch.zeros(4, 1)
        for w, v in zip(weights, all_values):
            total += w * v
        outs.append(total)
    return outs
