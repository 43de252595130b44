"""Asks for more memory than there may be."""
# Gets: Unable to allocate

import numpy as np

from world import WON

block = np.empty(3 * 2**30, dtype=np.uint8)
print(WON)
