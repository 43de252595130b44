# wrong: a running maximum begins at -1000
# named: nothing
def softmax_stable(x, dim=-1):
    largest = torch.full_like(x.select(dim, 0), -1000.0)
    for part in x.unbind(dim):
        largest = torch.where(part > largest, part, largest)
    e = torch.exp(x - largest.unsqueeze(dim))
    return e / e.sum(dim, keepdim=True)
