# wrong: sums as they are, and the mean of the outputs
# named: sums not rescaled + outputs averaged
def merge(m1, l1, o1, m2, l2, o2):
    m = torch.maximum(m1, m2)
    shift = torch.where(torch.isinf(m), torch.zeros_like(m), m)
    w1 = torch.exp(m1 - shift) * l1
    w2 = torch.exp(m2 - shift) * l2
    l = l1 + l2
    o = (o1 + o2) / 2
    return m, l, o
