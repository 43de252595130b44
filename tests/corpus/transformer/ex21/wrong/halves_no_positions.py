# wrong: halves as pairs, and positions ignored
# named: halves as pairs + positions without effect
def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    rates = base ** (-torch.arange(0, d, 2, device=x.device).float() / d)
    angles = torch.arange(x.shape[-2], device=x.device).float()[:, None] * rates
    cos, sin = angles.cos(), angles.sin()
    a, b = x.chunk(2, dim=-1)
    turned = torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
    return turned.to(x.dtype)
