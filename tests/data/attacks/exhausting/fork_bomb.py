"""Doubles itself until there is no process left for others."""
# Gets: PermissionError

import os
import time

for _ in range(4):
    os.fork()
time.sleep(1)
