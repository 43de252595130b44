# wrong: one empty row makes a piece count as empty
# named: one empty row taken for an empty piece
def merge(m1, l1, o1, m2, l2, o2):
    if (m1 == -math.inf).any():
        return m2, l2, o2
    if (m2 == -math.inf).any():
        return m1, l1, o1
    m = torch.maximum(m1, m2)
    w1, w2 = torch.exp(m1 - m) * l1, torch.exp(m2 - m) * l2
    l = w1 + w2
    return m, l, (w1 * o1 + w2 * o2) / l
