# wrong: rotate_half of one library, with the angles of another
# named: halves by angles of neighbours
def rotate_half(x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat([-second, first], dim=-1)


def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    rates = 1.0 / base ** (torch.arange(0, d, 2, device=x.device).float() / d)
    angles = torch.outer(positions.float(), rates).repeat_interleave(2, dim=-1)
    return (x.float() * angles.cos() + rotate_half(x.float()) * angles.sin()).to(x.dtype)
