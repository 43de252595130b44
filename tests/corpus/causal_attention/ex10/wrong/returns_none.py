# wrong: prints the sum and returns None
# named: nothing
def softmax_stable(x, dim=-1):
    e = torch.exp(x - x.max(dim=dim, keepdim=True).values)
    out = e / e.sum(dim=dim, keepdim=True)
    print(out.sum(dim=dim))
