"""Forks without the C library: fork, vfork, clone and clone3 by number."""
# Gets: no process started

import ctypes
import os
import platform

from world import WON

libc = ctypes.CDLL(None, use_errno=True)
numbers = {"x86_64": (57, 56, 435), "aarch64": (220, 435)}[platform.machine()]
for number in numbers:
    for flags in (17, 0x00008000 | 17, 0x40000000):
        pid = libc.syscall(number, flags, 0, 0, 0, 0)
        if pid == 0:
            os._exit(0)
        if pid > 0:
            print(WON)
print("no process started")
