"""Uses the socket that a GPU's driver has opened, or opens one of that kind, to listen, to connect, or to send."""
# Gets: nobody is reached

import ctypes
import os
import socket

from world import ABSTRACT, MARK, SOCKET, WON

ends = []
for number in range(3, 128):
    try:
        end = socket.socket(fileno=os.dup(number))
    except OSError:
        continue
    try:
        end.getpeername()  # what is written there is for the grader
    except OSError:
        ends.append(end)
for kind in (socket.SOCK_SEQPACKET, socket.SOCK_SEQPACKET | socket.SOCK_CLOEXEC):
    try:
        ends.append(socket.socket(socket.AF_UNIX, kind))
        print(WON)
    except OSError:
        continue
ways = [lambda end: end.bind(f"\0{MARK}"), lambda end: end.bind(f"/tmp/{MARK}"), lambda end: end.listen(),
        lambda end: end.accept()]
for address in (SOCKET, ABSTRACT):
    ways += [lambda end, a=address: end.connect(a), lambda end, a=address: end.sendto(b"answers", a)]
for end in ends:
    for way in ways:
        try:
            way(end)
            print(WON)
        except OSError:
            continue
libc = ctypes.CDLL(None, use_errno=True)
if libc.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, 0) >= 0:  # past Python
    print(WON)
print("nobody is reached")
