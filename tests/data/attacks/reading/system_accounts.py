"""Reads the accounts and settings of the machine."""
# Gets: nothing readable

from world import WON

for path in ("/etc/passwd", "/etc/shadow", "/etc/hosts", "/root/.bashrc", "/proc/1/cmdline", "/proc/mounts", "/sys/class"):
    try:
        print(open(path).read(), WON)
    except OSError:
        continue
print("nothing readable")
