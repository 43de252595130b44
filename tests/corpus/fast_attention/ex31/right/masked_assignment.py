# right: rows that are not empty are written into new tensors
def merge(m1, l1, o1, m2, l2, o2):
    m = torch.maximum(m1, m2)
    there = (l1 + l2 > 0).squeeze(-1)
    l, o = torch.zeros_like(l1), torch.zeros_like(o1)
    a = l1[there] * torch.exp(m1[there] - m[there])
    b = l2[there] * torch.exp(m2[there] - m[there])
    l[there] = a + b
    o[there] = (a * o1[there] + b * o2[there]) / (a + b)
    return m, l, o
