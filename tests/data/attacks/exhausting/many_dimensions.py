"""Returns a tensor with as many dimensions as torch allows, without elements."""
# Gets: a tensor with 60 dimensions

import torch


def compute_qkv(*inputs):
    return torch.zeros([1] * 59 + [0])
