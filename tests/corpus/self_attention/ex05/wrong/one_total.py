# wrong: the accumulator is made once, so sums of earlier words stay in
# named: sums that go on
def weighted_sums(all_attention_weights, all_values):
    outs = []
    total = torch.zeros_like(all_values[0])
    for weights in all_attention_weights:
        for w, v in zip(weights, all_values):
            total = total + w * v
        outs.append(total)
    return outs
