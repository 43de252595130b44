# wrong: the maximum that is subtracted is never below -1000
# named: nothing
def merge(m1, l1, o1, m2, l2, o2):
    m = torch.maximum(m1, m2)
    safe = m.clamp(min=-1e3)
    w1 = torch.exp(m1 - safe) * l1
    w2 = torch.exp(m2 - safe) * l2
    l = w1 + w2
    o = (w1 * o1 + w2 * o2) / torch.where(l == 0, torch.ones_like(l), l)
    return m, l, o
