# wrong: right numbers, but item and torch.tensor cut the gradient off
# named: gradients cut off
def simple_attention_scores(inputs, query):
    scores = []
    for word in inputs:
        scores.append(torch.dot(word, query).item())
    return torch.tensor(scores, dtype=inputs.dtype)
