# wrong: the output is overwritten for every query, that of the last query comes back alone
# named: last output only
def self_attention(all_queries, all_keys, all_values):
    for q in all_queries:
        scores = torch.stack([torch.sum(q * k) / math.sqrt(q.shape[0]) for k in all_keys])
        weights = torch.softmax(scores, dim=0)
        output = sum(w * v for w, v in zip(weights, all_values))
    return output
