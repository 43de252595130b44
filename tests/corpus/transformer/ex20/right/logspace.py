# right: rates by logspace, positions by cumsum
def sinusoidal_positions(length, d_model, base=10000.0):
    t = torch.ones(length, d_model // 2, dtype=torch.float64).cumsum(0) - 1
    w = torch.logspace(0, -(d_model - 2) / d_model, d_model // 2, base=base, dtype=torch.float64)
    return torch.dstack([(t * w).sin(), (t * w).cos()]).reshape(length, d_model).float()
