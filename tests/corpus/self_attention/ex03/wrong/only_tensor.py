# wrong: works for a tensor only, a list raises
# named: tensors only
def softmax(items_in):
    return torch.exp(items_in) / torch.sum(torch.exp(items_in))
