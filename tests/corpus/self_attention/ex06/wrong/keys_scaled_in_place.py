# wrong: right numbers, but the caller's keys are divided in place
# named: nothing
def self_attention(all_queries, all_keys, all_values):
    for k in all_keys:
        k.div_(math.sqrt(k.shape[0]))
    outs = []
    for q in all_queries:
        w = softmax([torch.sum(q * k) for k in all_keys])
        outs.append(sum(a * v for a, v in zip(w, all_values)))
    return outs
