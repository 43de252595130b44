"""Starts a program in each way that Python has."""
# Gets: no program started

import multiprocessing
import os
import pty
import subprocess

from world import CANARY, WON

arguments = ["/bin/sh", "-c", f"touch {CANARY}/program.txt"]
for way in (
    lambda: subprocess.run(arguments, check=True),
    lambda: os.posix_spawn(arguments[0], arguments, {}),
    lambda: 1 / (os.system(arguments[2]) == 0),
    lambda: os.popen(arguments[2]).close(),
    lambda: pty.spawn(arguments),
    lambda: multiprocessing.Process(target=print).start(),
    lambda: os.execv(arguments[0], arguments),
):
    try:
        way()
        print(WON)
    except (OSError, ArithmeticError):
        continue
print("no program started")
