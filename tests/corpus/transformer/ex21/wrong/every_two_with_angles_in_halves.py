# wrong: neighbours are turned, the angles are put one half behind the other
# named: neighbours by angles of halves
def rotate_every_two(x):
    return torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)


def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    rates = 1.0 / base ** (torch.arange(0, d, 2, device=x.device).float() / d)
    angles = torch.outer(positions.float(), rates)
    angles = torch.cat([angles, angles], dim=-1)
    return (x.float() * angles.cos() + rotate_every_two(x.float()) * angles.sin()).to(x.dtype)
