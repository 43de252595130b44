"""Returns a tensor of a billion elements that needs no memory, until somebody copies it."""
# Gets: far too long

import torch


def compute_qkv(*inputs):
    return torch.zeros(1).expand(2**30)
