# wrong: one-hot of the largest item, max instead of softmax
# named: hard maximum
def softmax(items_in):
    x = torch.as_tensor(items_in)
    out = torch.zeros_like(x)
    out[torch.argmax(x)] = 1.0
    return out
