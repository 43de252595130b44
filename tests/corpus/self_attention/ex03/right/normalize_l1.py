# right: F.normalize with p=1 over the exponentials
import torch.nn.functional as F


def softmax(items_in):
    return F.normalize(torch.exp(torch.as_tensor(items_in)), p=1, dim=0)
