"""Reads the memory of the grader with process_vm_readv, which needs no file."""
# Gets: Operation not permitted

import ctypes
import os

from world import GRADER_PID, WON

libc = ctypes.CDLL(None, use_errno=True)


class Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


here = ctypes.create_string_buffer(16)
local = Piece(ctypes.addressof(here), 16)
remote = Piece(id(None), 16)  # the interpreter lies at the same place in the warm process
for pid in (os.getppid(), GRADER_PID):
    got = libc.process_vm_readv(pid, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
    print(WON if got == 16 else os.strerror(ctypes.get_errno()))
