# right: exp over the sum of exps, input made a tensor first
def softmax(items_in):
    x = torch.as_tensor(items_in)
    e = torch.exp(x)
    return e / torch.sum(e)
