# right: preallocated output filled in a loop, in place on an own tensor
def softmax(items_in):
    n = len(items_in)
    out = torch.zeros(n)
    for i in range(n):
        out[i] = items_in[i]
    out.exp_()
    out /= out.sum().item()
    return out
