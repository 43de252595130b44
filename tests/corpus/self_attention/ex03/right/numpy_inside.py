# right: numpy inside, float32 tensor out
import numpy as np


def softmax(items_in):
    a = np.array([float(i) for i in items_in])
    a = np.exp(a - a.max())
    return torch.tensor(a / a.sum(), dtype=torch.float32)
