"""Ends the process, in all ways, in the cell and in the answer."""
# Gets: Your code ended the Python process

import os
import sys


def compute_qkv(*inputs):
    sys.exit(0)


# %% exercise-2
raise SystemExit(3)
# %% exercise-3
raise KeyboardInterrupt
# %% exercise-4
def attention_weights(*inputs):
    os._exit(0)


# %% exercise-5
os._exit(0)
