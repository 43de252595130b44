# wrong: one softmax over the whole matrix
# named: softmax over everything
def all_context_vectors(inputs):
    s = inputs @ inputs.T
    w = torch.softmax(s.flatten(), dim=0).view_as(s)
    return w @ inputs
