# right: nn.Softmax
def softmax_stable(x, dim=-1):
    softmax = nn.Softmax(dim=dim)
    return softmax(x)
