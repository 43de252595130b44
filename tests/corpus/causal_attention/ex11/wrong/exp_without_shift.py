# wrong: right until scores are large, where exp overflows
# named: softmax not shifted
def all_context_vectors(inputs):
    e = torch.exp(inputs @ inputs.T)
    return e / e.sum(dim=1, keepdim=True) @ inputs
