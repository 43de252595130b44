"""Sends open files along with its messages, until the grader can open none of its own."""
# Gets: PermissionError

import os
import socket

channel = socket.socket(fileno=os.dup(3))
files = [os.open("world.py", os.O_RDONLY) for _ in range(100)]
for _ in range(100):
    socket.send_fds(channel, [b"\0" * 8], files)
