# right: torch.tensor even for a tensor, which warns on stderr
def softmax(items_in):
    items = torch.tensor(items_in)
    numerator = torch.exp(items)
    denominator = sum(numerator)
    return numerator / denominator
