# right: shares by the logarithms of the sums
def merge(m1, l1, o1, m2, l2, o2):
    m = torch.maximum(m1, m2)
    lse1, lse2 = m1 + torch.log(l1), m2 + torch.log(l2)
    lse = torch.logaddexp(lse1, lse2)
    empty = torch.isinf(lse)
    share1 = torch.where(empty, 0.0, torch.exp(lse1 - lse))
    share2 = torch.where(empty, 0.0, torch.exp(lse2 - lse))
    l = torch.where(empty, 0.0, torch.exp(lse1 - m) + torch.exp(lse2 - m))
    return m, l, share1 * o1 + share2 * o2
