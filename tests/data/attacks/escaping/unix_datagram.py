"""Sends through a socket that it may have, one of a pair, to another address."""
# Gets: no service reached

import socket

from world import ABSTRACT, SOCKET, WON

for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
    for address in (SOCKET, ABSTRACT):
        for way in ("connect", "sendto"):
            try:
                mine, _ = socket.socketpair(socket.AF_UNIX, kind)
                mine.connect(address) if way == "connect" else mine.sendto(b"answers", address)
                print(WON)
            except OSError:
                continue
print("no service reached")
