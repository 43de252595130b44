# right: cosines as sines a quarter further
def sinusoidal_positions(length, d_model, base=10000.0):
    column = torch.arange(d_model)
    rates = base ** (-(column - column % 2) / d_model)
    angles = torch.arange(length)[:, None] * rates
    return torch.sin(angles + (column % 2) * (math.pi / 2))
