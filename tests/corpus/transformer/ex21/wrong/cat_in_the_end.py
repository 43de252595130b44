# wrong: right pairs, put together by cat
# named: turned pairs put in halves
def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    rates = base ** (-torch.arange(0, d, 2, device=x.device).float() / d)
    angles = positions.float()[:, None] * rates
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    turned = torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
    return turned.to(x.dtype)
