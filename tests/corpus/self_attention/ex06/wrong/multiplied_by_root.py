# wrong: the dot products are multiplied by sqrt(D)
# named: multiplied by √D
def self_attention(all_queries, all_keys, all_values):
    root = math.sqrt(all_queries[0].shape[0])
    outputs = []
    for q in all_queries:
        s = torch.stack([torch.sum(q * k) * root for k in all_keys])
        a = torch.softmax(s, dim=0)
        outputs.append(sum(a_j * v for a_j, v in zip(a, all_values)))
    return outputs
