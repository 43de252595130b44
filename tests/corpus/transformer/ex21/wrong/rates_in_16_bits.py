# wrong: the rates of the pairs have the dtype of x, positions have 32 bits
# named: nothing
def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    freqs = 1.0 / (base ** (torch.arange(0, d, 2, device=x.device).float() / d))
    angles = torch.outer(positions.float(), freqs.to(x.dtype).float())
    turn = torch.polar(torch.ones_like(angles), angles)
    z = torch.view_as_complex(x.float().reshape(*x.shape[:-1], d // 2, 2))
    return torch.view_as_real(z * turn).flatten(-2).to(x.dtype)
