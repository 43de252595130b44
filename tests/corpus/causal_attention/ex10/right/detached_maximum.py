# right: the maximum is detached, which is no mistake as the shift cancels
def softmax_stable(x, dim=-1):
    shift = torch.max(x, dim, keepdim=True)[0].detach()
    exps = (x - shift).exp()
    return exps.div(exps.sum(dim, keepdim=True))
