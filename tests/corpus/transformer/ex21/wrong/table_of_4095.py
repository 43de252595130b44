# wrong: a table that ends one position too early
# named: nothing
TABLE = torch.arange(4095).double()


def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    angles = TABLE.to(x.device)[positions, None] * base ** (-torch.arange(0, d, 2, device=x.device) / d)
    z = torch.view_as_complex(x.double().unflatten(-1, (d // 2, 2)).contiguous())
    return torch.view_as_real(z * torch.polar(torch.ones_like(angles), angles)).flatten(-2).to(x.dtype)
