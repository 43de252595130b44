# wrong: exponentials as weights, never divided by their sum
# named: not normalised
def self_attention(all_queries, all_keys, all_values):
    outputs = []
    for q in all_queries:
        total = torch.zeros_like(all_values[0])
        for k, v in zip(all_keys, all_values):
            score = torch.sum(q * k) / math.sqrt(len(q))
            total = total + torch.exp(score) * v
        outputs.append(total)
    return outputs
