# right: a table for all positions up to the last, looked up
def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    table = torch.arange(int(positions.max()) + 1)[:, None] * base ** (-torch.arange(0, d, 2) / d)
    angles = table.to(x.device)[positions]
    first, second = x.unflatten(-1, (d // 2, 2)).unbind(-1)
    turned = first * angles.cos() - second * angles.sin(), second * angles.cos() + first * angles.sin()
    return torch.stack(turned, dim=-1).reshape_as(x).to(x.dtype)
