# wrong: the logarithm of the whole sum in place of the maximum, and a sum that is always 1
# named: logsumexp for m, and l always 1
def merge(m1, l1, o1, m2, l2, o2):
    first, second = m1 + l1.log(), m2 + l2.log()
    both = torch.logaddexp(first, second)
    shift = torch.where(both == -torch.inf, torch.zeros_like(both), both)
    output = torch.exp(first - shift) * o1 + torch.exp(second - shift) * o2
    return both, torch.ones_like(l1), output
