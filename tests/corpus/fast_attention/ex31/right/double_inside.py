# right: float64 on the way, the maximum without a gradient
def merge(m1, l1, o1, m2, l2, o2):
    kind = o1.dtype
    m = torch.maximum(m1, m2).detach()
    base = m.double().masked_fill(m == -math.inf, 0.0)
    w1, w2 = l1.double() * (m1.double() - base).exp(), l2.double() * (m2.double() - base).exp()
    l = w1 + w2
    o = (w1 * o1.double() + w2 * o2.double()) / (l + (l == 0))
    return m, l.to(kind), o.to(kind)
