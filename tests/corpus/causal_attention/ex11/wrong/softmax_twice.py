# wrong: softmax of the softmax
# named: applied twice
def all_context_vectors(inputs):
    w = torch.softmax(inputs @ inputs.T, dim=-1)
    w = F.softmax(w, dim=-1)
    return w @ inputs
