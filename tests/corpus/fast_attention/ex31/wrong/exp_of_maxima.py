# wrong: exp(m1) and exp(m2), without a shift
# named: nothing subtracted
def merge(m1, l1, o1, m2, l2, o2):
    m = torch.maximum(m1, m2)
    s1, s2 = torch.exp(m1) * l1, torch.exp(m2) * l2
    l = (s1 + s2) / torch.exp(m)
    return m, l, (s1 * o1 + s2 * o2) / (s1 + s2)
