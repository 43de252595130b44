# right: sums in letters
def attention_backward(queries, keys, values, grad_output):
    d = queries.size(-1)
    scores = torch.einsum("bhtd,bhsd->bhts", queries, keys) / math.sqrt(d)
    e = torch.exp(scores - scores.amax(-1, keepdim=True))
    p = e / e.sum(-1, keepdim=True)
    gv = torch.einsum("bhts,bhtd->bhsd", p, grad_output)
    gp = torch.einsum("bhtd,bhsd->bhts", grad_output, values)
    gs = p * gp - p * torch.einsum("bhts,bhts->bht", p, gp).unsqueeze(-1)
    gs = gs / math.sqrt(d)
    return torch.einsum("bhts,bhsd->bhtd", gs, keys), torch.einsum("bhts,bhtd->bhsd", gs, queries), gv
