"""Fills the disk with files that it has removed but holds open, so that no folder shows them."""
# Gets: Your code filled the disk

import os
import time

from world import WON

kept = []
for number in range(20):  # goes on, should somebody else have removed as much meanwhile
    kept.append(open("file", "wb", buffering=0))
    assert kept[-1].write(bytes(60 * 2**20)) == 60 * 2**20
    os.remove("file")
time.sleep(5)
print(WON)
