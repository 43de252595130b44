# wrong: a minus before the scores
# named: sign flipped
def all_context_vectors(inputs):
    return torch.softmax(-inputs @ inputs.T, dim=-1) @ inputs
