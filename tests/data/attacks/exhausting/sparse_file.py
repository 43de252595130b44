"""Makes a file of a terabyte that holds nothing."""
# Gets: File too large

import os

from world import WON

descriptor = os.open("sparse", os.O_CREAT | os.O_WRONLY)
os.ftruncate(descriptor, 2**40)
print(WON)
