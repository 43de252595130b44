"""Puts links to outside into its folder, for the grader to follow when it measures and removes the folder."""
# Gets: PermissionError

import os

from world import CANARY, COURSE, WON

os.symlink(CANARY, "canary")
os.symlink(f"{CANARY}/canary.txt", "canary.txt")
os.symlink(f"{COURSE}/gradebook.db", "gradebook.db")
os.symlink("/", "everything")
os.symlink("loop", "loop")
open("canary.txt", "w").write("mine")
print(WON)
