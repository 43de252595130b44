"""Writes random bytes into the channel."""
# Gets: Your code ended the Python process

import os

while True:
    os.write(3, os.urandom(2**16))
