# wrong: softmax of the negative scores
# named: sign flipped
def self_attention(all_queries, all_keys, all_values):
    outputs = []
    for scores in attention_scores(all_queries, all_keys):
        negative = [-s for s in scores]
        weights = softmax(negative)
        y = torch.zeros_like(all_values[0])
        for w, v in zip(weights, all_values):
            y = y + w * v
        outputs.append(y)
    return outputs
