"""Reads a private file of the user who grades."""
# Gets: PermissionError

from world import CANARY, WON

print(open(f"{CANARY}/canary.txt").read(), WON)
