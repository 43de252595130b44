"""Fills the disk where paths are too long to be looked at."""
# Gets: No space left on device
# Or, watched: Your code made folders that cannot be opened

import os

from world import WON

for _ in range(25):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
for number in range(100):
    with open(str(number), "wb") as file:
        file.write(bytes(60 * 2**20))
print(WON)
