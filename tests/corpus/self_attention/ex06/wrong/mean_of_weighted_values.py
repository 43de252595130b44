# wrong: the weighted values are averaged instead of summed
# named: mean instead of sum
def self_attention(all_queries, all_keys, all_values):
    outputs = []
    for weights in attention_weights(attention_scores(all_queries, all_keys)):
        weighted = [w * v for w, v in zip(weights, all_values)]
        outputs.append(torch.mean(torch.stack(weighted), dim=0))
    return outputs
