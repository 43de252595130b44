# right: shifted by the mean instead of the maximum, which cancels
def softmax(items_in):
    t = torch.FloatTensor(items_in) if isinstance(items_in, list) else items_in
    t = t - t.mean()
    print("shifted:", t)
    return torch.div(torch.exp(t), torch.exp(t).sum())
