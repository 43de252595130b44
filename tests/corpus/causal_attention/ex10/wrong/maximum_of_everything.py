# wrong: one maximum for the whole tensor, a row far below it becomes 0/0
# named: largest of everything subtracted
def softmax_stable(x, dim=-1):
    e = torch.exp(x - x.max())
    return e / e.sum(dim=dim, keepdim=True)
