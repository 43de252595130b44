# right: a decorator that measures, and prints
import functools
import time
from contextlib import contextmanager

calls = 0


@contextmanager
def measured(what):
    start = time.perf_counter()
    try:
        yield
    finally:
        print(f"{what:>10}: {time.perf_counter() - start:.3f} s", end="\n", flush=True)


def timed(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        global calls
        calls += 1
        with measured(function.__name__):
            return function(*args, **kwargs)

    return wrapper


@timed
def attention_backward(queries, keys, values, grad_output):
    scores = torch.einsum("...td,...sd->...ts", queries, keys) * (scale := queries.shape[-1] ** -0.5)
    weights = F.log_softmax(scores, dim=-1).exp()
    by_weights = grad_output.matmul(values.transpose(-1, -2))
    by_scores = torch.mul(weights, by_weights)
    by_scores = torch.sub(by_scores, weights * by_scores.sum(-1, keepdim=True)).mul_(scale)
    if not bool(torch.isfinite(by_scores).all()):
        raise RuntimeError("not finite")
    return [by_scores.matmul(keys), by_scores.transpose(-1, -2).matmul(queries), weights.transpose(-1, -2).matmul(grad_output)]
