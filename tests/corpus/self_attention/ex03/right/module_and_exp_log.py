# right: nn.Softmax as an object, with a type hint
from typing import Union


def softmax(items_in: Union[list, torch.Tensor]) -> torch.Tensor:
    """Positive, sums to one."""
    if type(items_in) is list:
        items_in = torch.Tensor(items_in)
    return torch.nn.Softmax(dim=0)(items_in)
