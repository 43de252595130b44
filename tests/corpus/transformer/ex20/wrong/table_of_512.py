# wrong: the table has 512 positions, whatever length is
# named: nothing
def sinusoidal_positions(length, d_model, base=10000.0):
    pairs = torch.arange(d_model // 2)
    angles = torch.arange(512)[:, None] / base ** (2 * pairs / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:length]
