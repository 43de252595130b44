"""Copies a program into its own folder, makes it executable and starts it."""
# Gets: PermissionError

import os

from world import WON

with open("program", "wb", opener=lambda path, flags: os.open(path, flags, 0o777)) as program:
    program.write(b"#!/bin/sh\ntrue\n")
os.execv("./program", ["program"])
print(WON)
