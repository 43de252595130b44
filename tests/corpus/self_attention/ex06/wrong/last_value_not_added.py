# wrong: off by one in the sum, the last word has a weight but its value is never added
# named: last word left out
def self_attention(all_queries, all_keys, all_values):
    weights = attention_weights(attention_scores(all_queries, all_keys))
    n = len(all_values)
    outputs = []
    for i in range(n):
        output = torch.zeros_like(all_values[0])
        for j in range(n - 1):
            output += weights[i][j] * all_values[j]
        outputs.append(output)
    return outputs
