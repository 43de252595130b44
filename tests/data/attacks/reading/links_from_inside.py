"""Makes symbolic and hard links in its own folder that lead outside. Links get no more rights than paths."""
# Gets: nothing readable

import os

from world import CANARY, GRADER, WON

for number, path in enumerate([f"{CANARY}/canary.txt", f"{GRADER}/judging/judge.py"]):
    for link in (os.symlink, os.link):
        try:
            link(path, f"{link.__name__}{number}")
            print(open(f"{link.__name__}{number}").read(), WON)
        except OSError:
            continue
print("nothing readable")
