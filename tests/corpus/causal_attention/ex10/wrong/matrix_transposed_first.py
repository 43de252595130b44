# wrong: a matrix is transposed first and back at the end, so dim is the other one
# named: rows and columns exchanged
def softmax_stable(x, dim=-1):
    is_matrix = x.dim() == 2
    if is_matrix:
        x = x.T
    e = torch.exp(x - torch.amax(x, dim=dim, keepdim=True))
    out = e / torch.sum(e, dim=dim, keepdim=True)
    if is_matrix:
        out = out.T
    return out
