# wrong: everything above 50 counts as 50
# named: cut off above
def softmax_stable(x, dim=-1):
    limit = torch.full_like(x, 50.0)
    safe = torch.minimum(x, limit)  # exp(89) is too large for float32
    e = torch.exp(safe)
    return e / e.sum(dim, True)
