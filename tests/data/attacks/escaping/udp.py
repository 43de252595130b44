"""Sends results in a datagram, as a name server would get it."""
# Gets: PermissionError

import socket

from world import PORT, WON

socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"answers", ("127.0.0.1", PORT))
print(WON)
