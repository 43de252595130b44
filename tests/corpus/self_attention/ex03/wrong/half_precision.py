# wrong: bfloat16 inside
# named: nothing
def softmax(items_in):
    x = torch.as_tensor(items_in).bfloat16()
    return (torch.exp(x) / torch.exp(x).sum()).float()
