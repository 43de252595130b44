# wrong: sigmoid instead of softmax
# named: sigmoid
def self_attention(all_queries, all_keys, all_values):
    outs = []
    for row in attention_scores(all_queries, all_keys):
        outs.append(sum(torch.sigmoid(s) * v for s, v in zip(row, all_values)))
    return outs
