# wrong: multiplied up instead of added up
# named: nothing
def weighted_sums(all_attention_weights, all_values):
    outs = []
    for weights in all_attention_weights:
        total = torch.ones_like(all_values[0])
        for w, v in zip(weights, all_values):
            total = total * (w * v)
        outs.append(total)
    return outs
