# wrong: turned the other way
# named: turned backwards
def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    rates = base ** (-torch.arange(0, d, 2, device=x.device).float() / d)
    angles = positions.float()[:, None] * rates
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    turned = torch.stack([a * cos + b * sin, b * cos - a * sin], dim=-1)
    return turned.flatten(-2).to(x.dtype)
