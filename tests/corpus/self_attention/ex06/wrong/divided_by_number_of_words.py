# wrong: the dot products are divided by the number of words
# named: divided by N
def self_attention(all_queries, all_keys, all_values):
    num_words = len(all_queries)
    outputs = []
    for i in range(num_words):
        scores = []
        for j in range(num_words):
            scores.append((all_queries[i].T @ all_keys[j]).item() / num_words)
        a = torch.softmax(torch.tensor(scores), dim=0)
        out = torch.zeros_like(all_values[0])
        for j in range(num_words):
            out = out + a[j] * all_values[j]
        outputs.append(out)
    return outputs
