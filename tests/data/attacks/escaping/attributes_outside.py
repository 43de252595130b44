"""Changes mode, owner, time and attributes of a file, which are not a matter of writing into it."""
# Gets: nothing changed

import os

from world import CANARY, WON

path = f"{CANARY}/canary.txt"
for way in (
    lambda: os.chmod(path, 0o777),
    lambda: os.chmod(CANARY, 0o777),
    lambda: os.chown(path, os.getuid(), os.getgid()),
    lambda: os.lchown(path, os.getuid(), os.getgid()),
    lambda: os.utime(path, (0, 0)),
    lambda: os.setxattr(path, "user.mine", b"1"),
):
    try:
        way()
        print(WON)
    except OSError:
        continue
print("nothing changed")
