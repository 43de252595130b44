# wrong: how far each word is from the query
# named: distance
def simple_attention_scores(inputs, query):
    result = []
    for word in inputs:
        diff = word - query
        result.append(torch.sqrt(torch.dot(diff, diff)))
    return torch.stack(result)
