"""Fills the disk where paths are too long to be looked at."""
# Gets: Your code

import os
import time

from world import WON

for _ in range(25):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
for number in range(5):
    with open(str(number), "wb", buffering=0) as file:
        assert file.write(bytes(60 * 2**20)) == 60 * 2**20
time.sleep(5)
print(WON)
