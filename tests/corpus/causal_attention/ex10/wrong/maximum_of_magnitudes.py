# wrong: shifted by the largest magnitude, so numbers far below zero become 0/0
# named: largest absolute value subtracted
def softmax_stable(x, dim=-1):
    shift = torch.amax(torch.abs(x), dim=dim, keepdim=True)
    numerator = torch.exp(x - shift)
    denominator = numerator.sum(dim=dim, keepdim=True)
    return numerator / denominator
