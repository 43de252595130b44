# wrong: the running sum is not set back to zero for the next query
# named: nothing
def all_context_vectors(inputs):
    rows = []
    context = torch.zeros(inputs.shape[1])
    for q in inputs:
        w = torch.softmax(inputs @ q, dim=0)
        for j, x in enumerate(inputs):
            context = context + w[j] * x
        rows.append(context)
    return torch.stack(rows)
