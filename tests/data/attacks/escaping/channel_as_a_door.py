"""Uses the one socket that it has, the channel: binds, connects and listens with it."""
# Gets: no service reached

import os
import socket

from world import ABSTRACT, SOCKET, WON

channel = socket.socket(fileno=os.dup(3))
for way in (
    lambda: channel.connect(SOCKET),
    lambda: channel.connect(ABSTRACT),
    lambda: channel.bind("\0mine"),
    lambda: channel.listen(),
):
    try:
        way()
        print(WON)
    except OSError:
        continue
print("no service reached")
