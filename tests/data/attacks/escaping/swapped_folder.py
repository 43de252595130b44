"""Puts a link in the place of its own folder, so that the grader removes something else."""
# Gets: PermissionError

import os

from world import CANARY, WON

here = os.getcwd()
os.rename(here, here + "-moved")
os.symlink(CANARY, here)
print(WON)
