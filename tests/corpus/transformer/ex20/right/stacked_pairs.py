# right: sines and cosines stacked, then flattened
def sinusoidal_positions(length, d_model, base=10000.0):
    rates = torch.pow(torch.tensor(float(base)), -torch.arange(0, d_model, 2) / d_model)
    angles = torch.outer(torch.arange(length).float(), rates)
    return torch.stack((angles.sin(), angles.cos()), dim=2).reshape(length, d_model)
