# right: numpy by another name, and sums in letters
import numpy as np

xp = np


def attention_backward(queries, keys, values, grad_output):
    Q, K, V, dO = [x.numpy() for x in (queries, keys, values, grad_output)]
    scale = Q.shape[-1] ** -0.5
    S = xp.einsum("bhid,bhjd->bhij", Q, K, optimize=True) * scale
    S -= S.max(axis=-1, keepdims=True)
    P = xp.exp(S)
    P /= P.sum(axis=-1, keepdims=True)
    dV = xp.einsum("bhij,bhid->bhjd", P, dO)
    dP = xp.einsum("bhid,bhjd->bhij", dO, V)
    dS = P * (dP - xp.einsum("bhij,bhij->bhi", dP, P)[..., None])
    dQ = scale * xp.einsum("bhij,bhjd->bhid", dS, K)
    dK = scale * xp.einsum("bhij,bhid->bhjd", dS, Q)
    return torch.tensor(dQ), torch.tensor(dK), torch.tensor(dV)
