"""Changes a file of the user who grades."""
# Gets: PermissionError

from world import CANARY, WON

open(f"{CANARY}/canary.txt", "w").write("mine")
print(WON)
