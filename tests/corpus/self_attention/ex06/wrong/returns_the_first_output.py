# wrong: return stands inside the loop over the queries
# named: first output only
def self_attention(all_queries, all_keys, all_values):
    for q in all_queries:
        scores = []
        for k in all_keys:
            scores.append(torch.sum(q * k) / math.sqrt(q.shape[0]))
        weights = torch.softmax(torch.stack(scores), dim=0)
        output = torch.zeros_like(all_values[0])
        for w, v in zip(weights, all_values):
            output = output + w * v
        return output
