# right: log_softmax, then exp
def softmax(items_in):
    return torch.log_softmax(torch.as_tensor(items_in), 0).exp()
