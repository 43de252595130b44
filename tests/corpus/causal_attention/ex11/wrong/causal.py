# wrong: the future is hidden, which comes only in exercise 14
# named: future hidden
def all_context_vectors(inputs):
    s = inputs @ inputs.T
    future = torch.ones_like(s).triu(1).bool()
    return torch.softmax(s.masked_fill(future, -torch.inf), dim=-1) @ inputs
