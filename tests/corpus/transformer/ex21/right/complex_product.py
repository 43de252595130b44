# right: pairs as complex numbers
def apply_rope(x, positions, base=10000.0):
    d = x.size(-1)
    rates = 1.0 / base ** (torch.arange(0, d, 2, device=x.device).float() / d)
    turns = torch.polar(torch.ones(len(positions), d // 2, device=x.device), torch.outer(positions.float(), rates))
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], d // 2, 2))
    return torch.view_as_real(pairs * turns).flatten(-2).type_as(x)
