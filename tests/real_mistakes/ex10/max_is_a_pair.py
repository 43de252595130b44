# what: torch.max with dim gives two things
# pattern: typo
# causes: 1
# true:
# says: TypeError|return_types|max
# false: inputs of other sizes
def softmax_stable(x, dim=-1):
    m = torch.max(x, dim=dim, keepdim=True)  # <-
    e = torch.exp(x - m)  # <-
    return e / e.sum(dim=dim, keepdim=True)
