"""Has the kernel send the signal: as the owner of a descriptor, the bystander is told when there is something to read."""
# Gets: no signal sent

import fcntl
import os
import signal
import socket
import struct

from world import BYSTANDER, WON

F_SETSIG, F_SETOWN_EX, FIOSETOWN, SIOCSPGRP = 10, 15, 0x8901, 0x8902
mine, other = socket.socketpair()
number = struct.pack("i", BYSTANDER)
for own in (
    lambda: fcntl.fcntl(mine, fcntl.F_SETOWN, BYSTANDER),
    lambda: fcntl.fcntl(mine, F_SETOWN_EX, struct.pack("ii", 1, BYSTANDER)),
    lambda: fcntl.ioctl(mine, FIOSETOWN, number),
    lambda: fcntl.ioctl(mine, SIOCSPGRP, number),
):
    try:
        own()
        fcntl.fcntl(mine, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
        fcntl.fcntl(mine, F_SETSIG, signal.SIGTERM)
        other.send(b"!")
        print(WON)
    except OSError:
        continue
print("no signal sent")
