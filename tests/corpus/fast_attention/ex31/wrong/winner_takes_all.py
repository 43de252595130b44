# wrong: the piece with the larger maximum is returned
# named: larger piece alone
def merge(m1, l1, o1, m2, l2, o2):
    first = m1 > m2
    return torch.where(first, m1, m2), torch.where(first, l1, l2), torch.where(first, o1, o2)
