# wrong: reads the six words of the notebook, not the argument
# named: the notebook's words
_words = [[0.43, 0.15, 0.89], [0.55, 0.87, 0.66], [0.57, 0.85, 0.64], [0.22, 0.58, 0.33], [0.77, 0.25, 0.10], [0.05, 0.80, 0.55]]


def all_context_vectors(x):
    words = torch.tensor(_words)
    return torch.softmax(words @ words.T, dim=-1) @ words
