"""Fills memory by torch, in the answer."""
# Gets: stopped with RuntimeError

import torch


def compute_qkv(*inputs):
    return torch.zeros(3 * 2**28)
