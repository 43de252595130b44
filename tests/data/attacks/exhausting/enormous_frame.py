"""Announces a message of four gigabytes."""
# Gets: Your code ended the Python process

import os
import time

os.write(3, b"\xff" * 8)
time.sleep(1)
