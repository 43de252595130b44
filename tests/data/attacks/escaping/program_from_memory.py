"""Writes a program into memory and starts it from there, where no path can be forbidden."""
# Gets: PermissionError

import os

from world import WON

descriptor = os.memfd_create("program")
os.write(descriptor, open("/bin/sh", "rb").read())
os.execve(descriptor, ["sh", "-c", "true"], {})
print(WON)
