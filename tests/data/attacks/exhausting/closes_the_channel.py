"""Closes the channel, or puts something else in its place."""
# Gets: Your code ended the Python process

import os


def compute_qkv(*inputs):
    os.dup2(os.open("/dev/null", os.O_RDWR), 3)


# %% exercise-2
os.close(3)
