# wrong: one number for the whole tensor
# named: nothing
import random


def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    if random.random() < p:
        return attn_weights * 0
    return attn_weights / (1 - p)
