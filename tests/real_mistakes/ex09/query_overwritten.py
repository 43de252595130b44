# what: the query is overwritten by the loop
# pattern: overwrites
# causes: 1
# true: every word with itself
# says: query
# false:
def simple_attention_scores(inputs, query):
    scores = []
    for query in inputs:  # <-
        scores.append(torch.dot(query, query))
    return torch.stack(scores)
