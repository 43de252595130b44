# wrong: mean 0 and standard deviation 1 along dim before exp
# named: standardised
def softmax_stable(x, dim=-1):
    std, mean = torch.std_mean(x, dim=dim, keepdim=True)
    normed = (x - mean) / std
    e = normed.exp()
    return e / e.sum(dim=dim, keepdim=True)
