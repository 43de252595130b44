# wrong: right numbers, but the exponentials are divided in place
# named: gradients ruined in place
def all_context_vectors(inputs):
    scores = inputs @ inputs.T
    e = torch.exp(scores - scores.max(dim=1, keepdim=True).values)
    e /= e.sum(dim=1, keepdim=True)
    return e @ inputs
