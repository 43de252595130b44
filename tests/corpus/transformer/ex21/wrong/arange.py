# wrong: positions never used
# named: positions without effect
def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    rates = base ** (-torch.arange(0, d, 2, device=x.device).float() / d)
    angles = torch.arange(x.shape[-2], device=x.device).float()[:, None] * rates
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1)
    return turned.flatten(-2).to(x.dtype)
