# wrong: scores multiplied by the root of d
# named: multiplied by √d
def all_context_vectors(inputs):
    s = torch.einsum("id,jd->ij", inputs, inputs)
    s = s * inputs.shape[-1] ** 0.5
    return torch.einsum("ij,jd->id", s.softmax(dim=1), inputs)
