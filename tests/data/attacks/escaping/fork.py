"""Forks, so that the child lives on when the grader ends its parent."""
# Gets: PermissionError

import os
import time

from world import WON

if os.fork() == 0:
    os.setsid()
    time.sleep(20)
    os._exit(0)
print(WON)
