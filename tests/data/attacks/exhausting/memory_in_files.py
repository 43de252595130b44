"""Fills memory with files that have no place, and that no limit on memory sees."""
# Gets: PermissionError

import os

from world import WON

for number in range(12):
    os.write(os.memfd_create("m"), bytes(48 * 2**20))
print(WON)
