"""Looks beside its own folder for the folders of other submissions."""
# Gets: PermissionError

import os

from world import WON

for folder in os.listdir(".."):
    print(os.listdir(f"../{folder}"), WON)
