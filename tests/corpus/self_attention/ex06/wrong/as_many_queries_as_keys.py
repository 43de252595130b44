# wrong: counts the keys and goes through as many queries
# named: as many queries as keys assumed
def self_attention(all_queries, all_keys, all_values):
    how_many = len(all_keys)
    D = all_keys[0].numel()
    answers = []
    for n in range(how_many):
        scores = [torch.sum(all_queries[n] * key) / math.sqrt(D) for key in all_keys]
        weights = torch.softmax(torch.stack(scores), dim=0)
        answers.append(sum(weights[m] * all_values[m] for m in range(how_many)))
    return answers
