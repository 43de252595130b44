"""Behaves well in the first run of a cell and otherwise in the replay that a broken cell makes necessary."""
# Gets: is the first wrong number

import os

first = not os.path.exists("been-here")
open("been-here", "w").close()


def compute_qkv(all_x, *parameters):
    return all_x, all_x, all_x


# %% exercise-2
os._exit(0)
# %% exercise-3
if not first:
    raise SystemExit("replayed")


def softmax(items_in):
    return items_in
