"""Makes, renames, links and removes files outside its folder, in every way that Python has."""
# Gets: nothing changed

import os
import shutil

from world import CANARY, COURSE, MARK, WON

open("mine", "w").close()
for way in (
    lambda: os.remove(f"{CANARY}/canary.txt"),
    lambda: os.rename(f"{CANARY}/canary.txt", f"{CANARY}/renamed.txt"),
    lambda: os.rename("mine", f"{CANARY}/mine"),
    lambda: os.replace(f"{CANARY}/canary.txt", "canary.txt"),
    lambda: os.link("mine", f"{CANARY}/hard"),
    lambda: os.symlink("mine", f"{CANARY}/link"),
    lambda: os.mkdir(f"{CANARY}/folder"),
    lambda: os.mkfifo(f"{CANARY}/pipe"),
    lambda: os.truncate(f"{CANARY}/canary.txt", 0),
    lambda: shutil.copytree(".", f"{CANARY}/copy"),
    lambda: open(f"{COURSE}/nbgrader_config.py", "a"),
    lambda: open(f"{COURSE}/submitted/alice/self_attention/{MARK}", "w"),
    lambda: open(f"/tmp/{MARK}", "w"),
    lambda: open(f"/var/tmp/{MARK}", "w"),
    lambda: open(f"/dev/shm/{MARK}", "w"),
):
    try:
        way()
        print(WON)
    except OSError:
        continue
print("nothing changed")
