# wrong: the scores are distances between the words
# named: distance
def all_context_vectors(inputs):
    how_near = torch.cdist(inputs, inputs)
    attn = torch.softmax(how_near, dim=-1)
    return torch.mm(attn, inputs)
