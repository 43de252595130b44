"""Reads the environment that the process was started with, which emptying os.environ does not change."""
# Gets: PermissionError

from world import WON

print(open("/proc/self/environ").read(), WON)
