"""Gets itself a new root or new namespaces, in which it is root."""
# Gets: nothing gained

import ctypes
import os

from world import CANARY, WON

libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWNET = 0x10000000, 0x00020000, 0x40000000
gained = [libc.unshare(flag) == 0 for flag in (CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWNET)]
gained += [libc.chroot(b".") == 0, libc.mount(b".", CANARY.encode(), None, 4096, None) == 0]
for identity in (0, 65534):
    try:
        os.setuid(identity)
        gained.append(True)
    except OSError:
        continue
print(WON if any(gained) else "nothing gained")
