# wrong: plus where times is meant, each number of the word and the query's are added
# named: added instead of multiplied
def simple_attention_scores(inputs, query):
    scores = []
    for x in inputs:
        s = 0.0
        for a, b in zip(x, query):
            s = s + (a + b)
        scores.append(s)
    return torch.stack(scores)
