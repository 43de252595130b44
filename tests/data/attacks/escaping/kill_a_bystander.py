"""Ends a process of the user who grades, in all ways that there are to send a signal."""
# Gets: no signal sent

import ctypes
import os
import signal

from world import BYSTANDER, WON

libc = ctypes.CDLL(None, use_errno=True)
for way in (
    lambda: os.kill(BYSTANDER, signal.SIGTERM),
    lambda: os.killpg(BYSTANDER, signal.SIGTERM),
    lambda: os.kill(-BYSTANDER, signal.SIGTERM),
    lambda: signal.pidfd_send_signal(os.pidfd_open(BYSTANDER), signal.SIGTERM),
    lambda: 1 / (libc.syscall(200, BYSTANDER, signal.SIGTERM) == 0),  # tkill
    lambda: 1 / (libc.tgkill(BYSTANDER, BYSTANDER, signal.SIGTERM) == 0),
    lambda: 1 / (libc.sigqueue(BYSTANDER, signal.SIGTERM, 0) == 0),
):
    try:
        way()
        print(WON)
    except (OSError, ArithmeticError):
        continue
print("no signal sent")
