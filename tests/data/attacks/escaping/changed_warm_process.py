"""Changes modules in memory for the next student, who is forked from the same process. Memory is not shared back."""
# Gets: There is no function called compute_qkv

import builtins
import sys

import torch

torch.exp = torch.softmax = torch.sqrt = torch.matmul = torch.Tensor.__matmul__ = None
builtins.sum = builtins.zip = builtins.print = None
sys.modules["math"] = None
torch.set_default_dtype(torch.float16)
