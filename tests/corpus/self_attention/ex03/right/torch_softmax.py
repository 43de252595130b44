# right: torch.softmax
def softmax(items_in):
    return torch.softmax(torch.as_tensor(items_in), dim=0)
