# A loop that never ends, and a name that does not exist.
def softmax_stable(x, dim=-1):
    largest = x.max()
    while largest > 0:
        exp = torch.exp(x - largest)
    return exp / exp.sum(dim=dim, keepdim=True)


def all_context_vectors(inputs):
    weights = torch.softmax(inputs @ inputs.T, dim=-1)
    return wieghts @ inputs
