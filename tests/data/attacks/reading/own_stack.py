"""Reads the environment where the kernel once put it, at the top of the stack. It is that of the warm process."""
# Gets: no token

import ctypes
import os

from world import WON

libc = ctypes.CDLL(None)
place = ctypes.c_void_p.in_dll(libc, "program_invocation_name").value  # the name, the arguments, the environment
read, write = os.pipe()
while libc.write(write, ctypes.c_void_p(place), 8) == 8:  # until there is no more memory
    place += 8
found = os.read(read, 65536)
print(found.decode(errors="replace"), WON if b"TOKEN" in found or b"OMP_NUM_THREADS" not in found else "no token")
