# wrong: log-softmax
# named: logarithm
import torch.nn.functional as F


def softmax(items_in):
    return F.log_softmax(torch.as_tensor(items_in), dim=0)
