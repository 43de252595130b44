# wrong: no return statement
def softmax(items_in):
    e = torch.exp(torch.as_tensor(items_in))
    result = e / e.sum()
