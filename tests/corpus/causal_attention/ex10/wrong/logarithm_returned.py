# wrong: log_softmax, the exp is forgotten
def softmax_stable(x, dim=-1):
    return x - torch.logsumexp(x, dim=dim, keepdim=True)
