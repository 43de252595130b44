"""Reads the memory of its parent and of the grader through /proc."""
# Gets: PermissionError

import os

from world import GRADER_PID, WON

for pid in (os.getppid(), GRADER_PID):
    try:
        open(f"/proc/{pid}/mem", "rb")
    except PermissionError:
        continue
    print(WON)
open(f"/proc/{os.getppid()}/maps")
