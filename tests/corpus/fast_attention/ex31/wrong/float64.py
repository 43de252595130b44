# wrong: right numbers, but in float64
# named: float64 returned
def merge(m1, l1, o1, m2, l2, o2):
    m = torch.maximum(m1, m2)
    shift = torch.where(torch.isinf(m), torch.zeros_like(m), m)
    w1 = torch.exp(m1 - shift) * l1
    w2 = torch.exp(m2 - shift) * l2
    l = w1 + w2
    o = (w1 * o1 + w2 * o2) / torch.where(l == 0, torch.ones_like(l), l)
    return m.double(), l.double(), o.double()
