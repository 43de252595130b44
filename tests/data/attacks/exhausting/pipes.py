"""Fills the kernel's memory through pipes, which no limit on memory sees."""
# Gets: not much

import fcntl
import os

from world import WON

megabytes = 0
try:
    for _ in range(500):
        read, write = os.pipe()
        fcntl.fcntl(write, 1031, 2**20)  # F_SETPIPE_SZ
        os.set_blocking(write, False)
        megabytes += os.write(write, bytes(2**20)) / 2**20
except OSError:
    pass
print(WON if megabytes > 200 else "not much")
