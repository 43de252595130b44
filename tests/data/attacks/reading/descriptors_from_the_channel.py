"""Waits on the channel for descriptors that the grader might pass along."""
# Gets: no descriptors

import os
import socket

channel = socket.socket(fileno=os.dup(3))
channel.setblocking(False)
try:
    print(socket.recv_fds(channel, 100, 10))
except BlockingIOError:
    print("no descriptors")
