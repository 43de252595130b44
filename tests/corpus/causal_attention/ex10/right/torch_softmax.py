# right: torch.softmax
def softmax_stable(x, dim=-1):
    return torch.softmax(x, dim=dim)
