# wrong: two mistakes, no scaling and the outputs averaged over the words
# named: not scaled + mean instead of sum
def self_attention(all_queries, all_keys, all_values):
    outs = []
    for q in all_queries:
        w = softmax([torch.sum(q * k) for k in all_keys])
        outs.append(torch.stack([a * v for a, v in zip(w, all_values)]).mean(dim=0))
    return outs
