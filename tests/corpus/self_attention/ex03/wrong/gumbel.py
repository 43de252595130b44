# wrong: random result, gumbel softmax picked from the autocomplete list
# named: nothing
import torch.nn.functional as F


def softmax(items_in):
    return F.gumbel_softmax(torch.as_tensor(items_in), dim=0)
