# right: a list, and both pieces stacked on a new axis
def merge(m1, l1, o1, m2, l2, o2):
    ms, ls, os = torch.stack([m1, m2]), torch.stack([l1, l2]), torch.stack([o1, o2])
    m = ms.max(dim=0).values
    w = ls * torch.exp(ms - m.clamp(min=torch.finfo(m.dtype).min))
    l = w.sum(dim=0)
    return [m, l, (w * os).sum(dim=0) / l.clamp(min=1e-30)]
