# wrong: the root of eight from another example is written into the function
# named: divided by √8
def all_context_vectors(inputs):
    out = []
    for q in inputs:
        weights = torch.softmax(inputs @ q / math.sqrt(8), dim=0)
        out.append(weights @ inputs)
    return torch.stack(out)
