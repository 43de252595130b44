# right: forward and backward in numpy, with a cache between them
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def softmax_np(x: Array, axis: int = -1) -> Array:
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def forward_np(q, k, v):
    scores = np.matmul(q, k.swapaxes(-1, -2)) / np.sqrt(q.shape[-1])
    probs = softmax_np(scores)
    cache = {"q": q, "k": k, "v": v, "probs": probs, "d_head": q.shape[-1]}
    return np.matmul(probs, v), cache


def backward_np(d_heads, cache):
    q, k, v, probs = (cache[name] for name in ("q", "k", "v", "probs"))
    d_probs = d_heads @ v.swapaxes(-1, -2)
    d_v = probs.swapaxes(-1, -2) @ d_heads
    d_scores = probs * (d_probs - np.sum(probs * d_probs, axis=-1, keepdims=True))
    d_scores /= np.sqrt(cache["d_head"])
    return d_scores @ k, d_scores.transpose(0, 1, 3, 2) @ q, d_v


def attention_backward(queries, keys, values, grad_output):
    q, k, v, g = (x.detach().cpu().numpy().astype(np.float64) for x in (queries, keys, values, grad_output))
    _, cache = forward_np(q, k, v)
    return tuple(torch.from_numpy(np.ascontiguousarray(x)).to(queries) for x in backward_np(g, cache))
