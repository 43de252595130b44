# right: the mask comes from numpy
import numpy as np


def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    mask = np.random.binomial(1, 1 - p, size=tuple(attn_weights.shape))
    mask = torch.as_tensor(mask, dtype=attn_weights.dtype, device=attn_weights.device)
    return attn_weights * mask / (1 - p)
