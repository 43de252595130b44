# wrong: log_softmax, the exp is forgotten
# named: nothing
def softmax_stable(x, dim=-1):
    return x - torch.logsumexp(x, dim=dim, keepdim=True)
