# wrong: the cosine in the even columns
# named: sines and cosines exchanged
def sinusoidal_positions(length, d_model, base=10000.0):
    t = torch.arange(length, dtype=torch.float32)[:, None]
    even = torch.arange(0, d_model, 2, dtype=torch.float32)
    angles = t / base ** (even / d_model)
    table = torch.zeros(length, d_model)
    table[:, 0::2] = torch.cos(angles)
    table[:, 1::2] = torch.sin(angles)
    return table
