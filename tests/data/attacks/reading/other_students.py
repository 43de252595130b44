"""Looks for what other students handed in."""
# Gets: PermissionError

import os

from world import COURSE, WON

for student in os.listdir(f"{COURSE}/submitted"):
    print(open(f"{COURSE}/submitted/{student}/self_attention/self_attention.ipynb").read(), WON)
