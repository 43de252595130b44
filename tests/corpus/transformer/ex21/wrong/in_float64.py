# wrong: in float64, and left so
# named: float64 returned
def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    i = torch.arange(0, d, 2, device=x.device, dtype=torch.float64)
    angles = positions[:, None] * base ** (-i / d)
    cos, sin = angles.cos(), angles.sin()
    first, second = x[..., ::2], x[..., 1::2]
    turned = torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1)
    return turned.flatten(-2)
