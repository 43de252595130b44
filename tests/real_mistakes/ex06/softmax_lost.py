# what: weights are computed and thrown away
# pattern: lost-result
# causes: 1
# true:
# says: throws? .*away
# false:
# follows: raw scores as weights
def self_attention(all_queries, all_keys, all_values):
    all_outputs = []
    for query in all_queries:
        scores = torch.stack([torch.sum(query * key) / math.sqrt(len(query)) for key in all_keys])
        torch.softmax(scores, dim=0)  # <-
        output = torch.zeros_like(all_values[0])
        for s, v in zip(scores, all_values):
            output = output + s * v
        all_outputs.append(output)
    return all_outputs
