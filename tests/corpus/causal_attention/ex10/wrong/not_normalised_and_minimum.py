# wrong: two mistakes, shifted by the minimum and not divided by the sum
def softmax_stable(x, dim=-1):
    return torch.exp(x - x.amin(dim, keepdim=True))
