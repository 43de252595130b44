"""Attaches to another process as a debugger, to run code in it."""
# Gets: Operation not permitted

import ctypes
import os

from world import BYSTANDER, WON

libc = ctypes.CDLL(None, use_errno=True)
PTRACE_ATTACH, PTRACE_DETACH, PTRACE_SEIZE = 16, 17, 0x4206
for pid in (BYSTANDER, os.getppid()):
    if libc.ptrace(PTRACE_SEIZE, pid, 0, 0) == 0:
        print(WON)
print(os.strerror(ctypes.get_errno()))
