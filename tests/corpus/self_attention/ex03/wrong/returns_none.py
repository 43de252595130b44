# wrong: no return statement
# named: nothing
def softmax(items_in):
    e = torch.exp(torch.as_tensor(items_in))
    result = e / e.sum()
