"""Claims gigabytes of the disk, which no limit on the size of a file counts, in milliseconds."""
# Gets: PermissionError

import ctypes
import os

from world import WON

KEEP_SIZE = 1
library = ctypes.CDLL(None, use_errno=True)
for number in range(45):
    descriptor = os.open(f"claimed{number}", os.O_CREAT | os.O_RDWR)
    if library.fallocate(descriptor, KEEP_SIZE, ctypes.c_long(0), ctypes.c_long(2**26)):
        os.posix_fallocate(descriptor, 0, 2**26)
print(WON)
