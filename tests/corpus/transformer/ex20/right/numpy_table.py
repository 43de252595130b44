# right: computed by numpy in float64
import numpy as np

def sinusoidal_positions(length, d_model, base=10000.0):
    angles = np.arange(length)[:, None] / np.power(base, 2 * (np.arange(d_model) // 2) / d_model)
    table = np.where(np.arange(d_model) % 2 == 0, np.sin(angles), np.cos(angles))
    return torch.from_numpy(table).float()
