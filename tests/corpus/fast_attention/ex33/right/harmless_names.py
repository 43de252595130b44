# right: names that look like more than they are
from torch import autograd, softmax

eps = 1e-9


def attention_backward(queries, keys, values, grad_output):
    """No torch.autograd here, no eval and no exec: only formulas."""
    vars = dict(q=queries, k=keys, v=values)
    dir, input = -1, grad_output
    func = getattr(torch, "matmul")
    weights = softmax(func(vars["q"], vars["k"].mT) / math.sqrt(queries.shape[-1]), dim=dir)
    backward = func(input, values.mT)
    grad = weights * (backward - (weights * backward).sum(dir, True)) / math.sqrt(queries.size(-1))
    requires_grad = False
    assert not requires_grad and hasattr(queries, "shape"), f"{queries.shape=}"
    return func(grad, keys), func(grad.mT, queries), func(weights.mT, input)
