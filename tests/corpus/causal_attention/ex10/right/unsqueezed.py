# right: without keepdim, unsqueezed by hand
def softmax_stable(x, dim=-1):
    maximum, _ = torch.max(x, dim=dim)
    exps = torch.exp(x - maximum.unsqueeze(dim))
    total = torch.sum(exps, dim=dim)
    return exps / total.unsqueeze(dim)
