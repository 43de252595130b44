# right: the largest item is subtracted first
def softmax(items_in):
    if not isinstance(items_in, torch.Tensor):
        items_in = torch.tensor(items_in)
    shifted = items_in - torch.max(items_in)
    exps = shifted.exp()
    return exps / exps.sum(dim=0)
