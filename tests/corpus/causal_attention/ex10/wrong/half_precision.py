# wrong: float16 inside, values beyond 65504 become infinite and the rest is rounded
# named: nothing
def softmax_stable(x, dim=-1):
    h = x.half()
    h = h - h.max(dim=dim, keepdim=True)[0]
    return torch.softmax(h, dim=dim).to(x.dtype)
