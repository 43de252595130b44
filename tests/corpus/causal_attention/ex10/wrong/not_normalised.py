# wrong: the division by the sum is forgotten
# named: not normalised
def softmax_stable(x, dim=-1):
    x_max = x.max(dim=dim, keepdim=True).values
    return torch.exp(x - x_max)
