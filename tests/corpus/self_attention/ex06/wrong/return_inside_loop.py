# wrong: return is indented into the loop over the queries, a list with one output
# named: nothing
def self_attention(all_queries, all_keys, all_values):
    outputs = []
    for q in all_queries:
        scores = torch.stack([torch.sum(q * k) / math.sqrt(q.shape[0]) for k in all_keys])
        weights = torch.softmax(scores, dim=0)
        outputs.append(sum(w * v for w, v in zip(weights, all_values)))
        return outputs
