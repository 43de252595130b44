"""Reads the instructor's notebook, with all solutions."""
# Gets: PermissionError

from world import COURSE, WON

print(open(f"{COURSE}/source/self_attention/self_attention.ipynb").read(), WON)
