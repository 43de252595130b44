# wrong: the second is computed from the new first
# named: second from the new first
def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    rates = base ** (-torch.arange(0, d, 2, device=x.device).float() / d)
    angles = positions.float()[:, None] * rates
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    a = a * cos - b * sin
    turned = torch.stack([a, a * sin + b * cos], dim=-1)
    return turned.flatten(-2).to(x.dtype)
