# wrong: the positions are sorted first
# named: positions sorted
def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    positions, _ = torch.sort(positions)
    rates = base ** (-torch.arange(0, d, 2, device=x.device).float() / d)
    angles = positions[:, None].float() * rates
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., 0::2].float(), x[..., 1::2].float()
    out = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1)
    return out.flatten(-2).to(x.dtype)
