# right: stack of dots in a comprehension
def simple_attention_scores(inputs, query):
    return torch.stack([torch.dot(row, query) for row in inputs])
