# wrong: a factor is changed in place after it was used
# named: gradients ruined in place
def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    rates = base ** (-torch.arange(0, d, 2, device=x.device, dtype=torch.float64) / d)
    angles = positions[:, None] * rates
    turn = angles.cos().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    kept_a, kept_b = a * turn, b * turn
    turn.copy_(angles.sin())
    return torch.stack([kept_a - b * turn, a * turn + kept_b], dim=-1).flatten(-2)
