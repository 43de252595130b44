"""Kills its parent, which starts the sandboxes of all students to come."""
# Gets: no signal sent

import os

from world import WON

for target in (lambda: os.killpg(os.getpgid(os.getppid()), 0), lambda: os.kill(os.getppid(), 0)):
    try:
        target()
        print(WON)
    except PermissionError:
        continue
print("no signal sent")
