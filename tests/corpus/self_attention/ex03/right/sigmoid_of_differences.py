# right: one over the sum of exponentials of differences, by broadcasting
def softmax(items_in):
    x = torch.as_tensor(items_in).flatten()
    return 1 / torch.exp(x[None, :] - x[:, None]).sum(dim=1)
