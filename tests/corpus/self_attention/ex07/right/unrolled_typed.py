# right: type hints, docstring, helper functions, prints the shapes
from torch import Tensor


def affine(W: Tensor, b: Tensor, x: Tensor) -> Tensor:
    return torch.add(torch.matmul(W, x), b)


def column_softmax(s: Tensor) -> Tensor:
    s = s - torch.max(s, dim=0, keepdim=True)[0]
    e = torch.exp(s)
    return torch.div(e, torch.sum(e, dim=0, keepdim=True))


def scaled_dot_product_self_attention(
    X: Tensor, W_v: Tensor, W_q: Tensor, W_k: Tensor, b_v: Tensor, b_q: Tensor, b_k: Tensor
) -> Tensor:
    """Scaled dot product self attention, words are columns."""
    values, queries, keys = affine(W_v, b_v, X), affine(W_q, b_q, X), affine(W_k, b_k, X)
    dots = torch.matmul(keys.transpose(0, 1), queries)
    print("dots", tuple(dots.shape))
    weights = column_softmax(dots / queries.shape[0] ** 0.5)
    return torch.matmul(values, weights)
