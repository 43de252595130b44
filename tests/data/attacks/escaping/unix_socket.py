"""Talks to a service of this machine over a UNIX socket, by path and by abstract name."""
# Gets: no service reached

import socket

from world import ABSTRACT, SOCKET, WON

for address in (SOCKET, ABSTRACT):
    try:
        socket.socket(socket.AF_UNIX).connect(address)
        print(WON)
    except OSError:
        continue
print("no service reached")
