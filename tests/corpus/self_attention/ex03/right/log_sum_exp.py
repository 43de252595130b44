# right: exp of x minus logsumexp
def softmax(items_in):
    x = items_in.clone() if torch.is_tensor(items_in) else torch.tensor(items_in)
    return torch.exp(x - torch.logsumexp(x, dim=0))
