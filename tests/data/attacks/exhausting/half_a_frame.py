"""Begins a message and never ends it."""
# Gets: wait for something that never comes

import os
import struct
import time

os.write(3, struct.pack(">II", 100, 0) + b'{"to": ')
time.sleep(60)
