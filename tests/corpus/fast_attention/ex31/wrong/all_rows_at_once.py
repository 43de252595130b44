# wrong: emptiness is looked at for all rows at once
# named: NaN where both are empty
def merge(m1, l1, o1, m2, l2, o2):
    if (l1 == 0).all():
        return m2, l2, o2
    if (l2 == 0).all():
        return m1, l1, o1
    m = torch.maximum(m1, m2)
    a1, a2 = torch.exp(m1 - m), torch.exp(m2 - m)
    l = a1 * l1 + a2 * l2
    return m, l, (a1 * l1 * o1 + a2 * l2 * o2) / l
