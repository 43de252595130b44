"""Fills the disk with files that it has removed but holds open, so that no folder shows them."""
# Gets: No space left on device
# Or, watched: MB of files

import os

from world import WON

kept = []
for number in range(100):
    kept.append(open("file", "wb"))
    kept[-1].write(bytes(60 * 2**20))
    os.remove("file")
print(WON)
