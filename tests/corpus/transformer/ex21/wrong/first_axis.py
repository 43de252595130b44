# wrong: angles along the first axis
# named: along the first axis
def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    rates = base ** (-torch.arange(0, d, 2, device=x.device).float() / d)
    angles = positions.float()[:, None] * rates
    cos, sin = angles.cos(), angles.sin()
    if x.dim() > 2 and x.shape[0] == len(positions):
        cos = cos.reshape(len(cos), *[1] * (x.dim() - 2), -1)
        sin = sin.reshape(len(sin), *[1] * (x.dim() - 2), -1)
    a, b = x[..., 0::2], x[..., 1::2]
    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1)
    return turned.flatten(-2).to(x.dtype)
