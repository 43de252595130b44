# wrong: the argument has another name than in the body, which reads "journey" from the line above
# named: the notebook's query
query = inputs[1]


def simple_attention_scores(inputs, q):
    scores = []
    for vector in inputs:
        scores.append(vector @ query)
    return torch.stack(scores)
