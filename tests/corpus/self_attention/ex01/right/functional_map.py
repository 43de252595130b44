# right: functional style with map, lambda and partial
from functools import partial


def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    affine = lambda W, b, x: b + W.mm(x)
    return tuple(list(map(partial(affine, W, b), all_x)) for W, b in zip((W_q, W_k, W_v), (b_q, b_k, b_v)))
