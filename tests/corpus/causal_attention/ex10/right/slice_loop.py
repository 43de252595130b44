# right: a loop over the slices along dim, in python
def _sum(slices):
    total = 0
    for s in slices:
        total = total + s
    return total


def softmax_stable(x, dim=-1):
    slices = torch.unbind(x, dim)
    largest = slices[0]
    for s in slices[1:]:
        largest = torch.maximum(largest, s)
    exps = [torch.exp(s - largest) for s in slices]
    total = _sum(exps)
    return torch.stack([e / total for e in exps], dim)
