# wrong: the maximum is never updated
# named: the first maximum kept
def merge(m1, l1, o1, m2, l2, o2):
    m = m1
    w1 = torch.where(m1 == -math.inf, 0.0, torch.exp(m1 - m)) * l1
    w2 = torch.where(m2 == -math.inf, 0.0, torch.exp(m2 - m)) * l2
    l = w1 + w2
    o = (w1 * o1 + w2 * o2) / torch.where(l == 0, torch.ones_like(l), l)
    return m, l, o
