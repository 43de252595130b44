# wrong: softmax of softmax
# named: applied twice
def softmax(items_in):
    e = torch.exp(torch.as_tensor(items_in))
    p = e / e.sum()
    return torch.softmax(p, dim=0)
