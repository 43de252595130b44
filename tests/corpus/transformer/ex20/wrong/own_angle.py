# wrong: each column has an angle of its own
# named: an angle for each column
def sinusoidal_positions(length, d_model, base=10000.0):
    t = torch.arange(length, dtype=torch.float32)[:, None]
    column = torch.arange(d_model, dtype=torch.float32)
    angles = t / base ** (column / d_model)
    table = torch.zeros(length, d_model)
    table[:, 0::2] = torch.sin(angles[:, 0::2])
    table[:, 1::2] = torch.cos(angles[:, 1::2])
    return table
