# right: the share of the second piece by a sigmoid
def merge(m1, l1, o1, m2, l2, o2):
    both = (l1 > 0) & (l2 > 0)
    m = torch.where(m1 > m2, m1, m2)
    gap = torch.where(both, (m2 + l2.log()) - (m1 + l1.log()), torch.zeros_like(m1))
    share = torch.where(both, torch.sigmoid(gap), (l2 > 0).to(o1.dtype))
    l = torch.where(l1 > 0, l1 * torch.exp(m1 - m), 0) + torch.where(l2 > 0, l2 * torch.exp(m2 - m), 0)
    return m, l, o1 + share * (o2 - o1)
