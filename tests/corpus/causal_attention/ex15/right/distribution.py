# right: torch.distributions
from torch.distributions import Bernoulli


def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    mask = Bernoulli(probs=1 - p).sample(attn_weights.shape).to(attn_weights)
    return attn_weights.mul(mask).div(1 - p)
