"""Fills pairs of sockets, which no limit on addresses counts, with large buffers and in threads with descriptors each."""
# Gets: none of the three

import ctypes
import mmap
import socket

from world import WON

library = ctypes.CDLL(None, use_errno=True)
ways = []

one, other = socket.socketpair()
before = one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
try:
    one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * before)
    ways.append("larger buffers")
except OSError:
    pass

if library.close_range(ctypes.c_uint(10**6), ctypes.c_uint(10**6), ctypes.c_uint(2)) == 0:  # CLOSE_RANGE_UNSHARE
    ways.append("a table of its own for this thread")

# mov eax, 56 (clone); mov edi, CLONE_VM | CLONE_SIGHAND | CLONE_THREAD; no stack and no places; syscall; back in the
# old thread: ret; in the new one: mov eax, 60 (exit); syscall
code = b"\xb8\x38\x00\x00\x00\xbf\x00\x09\x01\x00\x31\xf6\x31\xd2\x4d\x31\xd2\x4d\x31\xc0\x0f\x05"
code += b"\x85\xc0\x74\x01\xc3\xb8\x3c\x00\x00\x00\x31\xff\x0f\x05"
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(code)
if ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))() > 0:
    ways.append("a thread that shares no descriptors")

print(f"{WON}: {ways}" if ways else "none of the three")
