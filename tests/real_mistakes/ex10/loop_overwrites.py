# what: only the last row is kept
# pattern: overwrites
# causes: 1
# true:
# says: overwrit|last row|replac
# false: first dimension|always the
def softmax_stable(x, dim=-1):
    out = torch.zeros_like(x)
    rows = x.reshape(-1, x.shape[-1])
    for row in rows:
        e = torch.exp(row - row.max())
        out = e / e.sum()  # <-
    return out
