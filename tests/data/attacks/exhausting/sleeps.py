"""Sleeps for ever, which costs no time of the processor, in a cell and in an answer."""
# Gets: wait for something that never comes

import time


def compute_qkv(*inputs):
    time.sleep(3600)


# %% exercise-2
time.sleep(3600)
