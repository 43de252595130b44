# wrong: return inside the loop, only the first row is filled
# named: nothing
def all_context_vectors(inputs):
    out = torch.zeros(inputs.shape)
    for i, q in enumerate(inputs):
        out[i] = torch.softmax(inputs @ q, dim=0) @ inputs
        return out
