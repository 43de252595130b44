# wrong: pieces whose maxima are equal count the same
# named: nothing
def merge(m1, l1, o1, m2, l2, o2):
    m = torch.maximum(m1, m2)
    base = torch.where(m == float("-inf"), 0.0, m)
    a, b = l1 * torch.exp(m1 - base), l2 * torch.exp(m2 - base)
    l = a + b
    o = (a * o1 + b * o2) / torch.where(l > 0, l, 1.0)
    return m, l, torch.where(m1 == m2, (o1 + o2) / 2, o)
