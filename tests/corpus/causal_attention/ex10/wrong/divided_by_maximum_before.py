# wrong: x is divided by its maximum, to bring it below 1
# named: divided by the largest
def softmax_stable(x, dim=-1):
    x_scaled = x / torch.max(x, dim=dim, keepdim=True).values
    exps = torch.exp(x_scaled)
    return exps / exps.sum(dim=dim, keepdim=True)
