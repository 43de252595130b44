# wrong: the share of a piece is exp(m1) over both
# named: outputs weighed by maxima alone
def merge(m1, l1, o1, m2, l2, o2):
    m = torch.maximum(m1, m2)
    shift = torch.where(torch.isinf(m), torch.zeros_like(m), m)
    w1 = torch.exp(m1 - shift) * l1
    w2 = torch.exp(m2 - shift) * l2
    l = w1 + w2
    a1, a2 = torch.exp(m1 - shift), torch.exp(m2 - shift)
    o = (a1 * o1 + a2 * o2) / (a1 + a2).clamp(min=1e-30)
    return m, l, o
