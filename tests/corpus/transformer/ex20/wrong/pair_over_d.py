# wrong: the number of the pair over d_model
# named: half the exponent
def sinusoidal_positions(length, d_model, base=10000.0):
    t = torch.arange(length, dtype=torch.float32)[:, None]
    even = torch.arange(0, d_model, 2, dtype=torch.float32)
    angles = t / base ** (even / 2 / d_model)
    table = torch.zeros(length, d_model)
    table[:, 0::2] = torch.sin(angles)
    table[:, 1::2] = torch.cos(angles)
    return table
