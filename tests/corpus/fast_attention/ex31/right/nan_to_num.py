# right: factors of empty pieces by nan_to_num
def merge(m1, l1, o1, m2, l2, o2):
    m = torch.max(m1, m2)
    a1 = torch.nan_to_num(torch.exp(m1 - m), nan=0.0)
    a2 = torch.nan_to_num(torch.exp(m2 - m), nan=0.0)
    l = a1 * l1 + a2 * l2
    o = torch.nan_to_num((a1 * l1 * o1 + a2 * l2 * o2) / l, nan=0.0)
    return m, l, o
