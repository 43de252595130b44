"""Sends results over the network. No socket can be made."""
# Gets: PermissionError

import socket

from world import PORT, WON

socket.create_connection(("127.0.0.1", PORT), timeout=1).send(b"answers")
print(WON)
