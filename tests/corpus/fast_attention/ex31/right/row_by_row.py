# right: every row by itself, with Python's if
def merge(m1, l1, o1, m2, l2, o2):
    d = o1.shape[-1]
    ms, ls, os = [], [], []
    rows = zip(m1.reshape(-1), l1.reshape(-1), o1.reshape(-1, d), m2.reshape(-1), l2.reshape(-1), o2.reshape(-1, d))
    for ma, la, oa, mb, lb, ob in rows:
        if la == 0:
            m, l, o = mb, lb, ob
        elif lb == 0:
            m, l, o = ma, la, oa
        else:
            m = max(ma, mb)
            wa, wb = la * torch.exp(ma - m), lb * torch.exp(mb - m)
            l = wa + wb
            o = (wa * oa + wb * ob) / l
        ms.append(m), ls.append(l), os.append(o)
    return torch.stack(ms).reshape(m1.shape), torch.stack(ls).reshape(l1.shape), torch.stack(os).reshape(o1.shape)
