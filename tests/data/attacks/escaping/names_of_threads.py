"""Writes where a GPU's driver names its threads: into files of other processes, and into its own that do more."""
# Gets: nothing but names

import os

from world import BYSTANDER, GRADER_PID, MARK, WON

own = f"/proc/self/task/{os.getpid()}"
for path, text in {
    f"/proc/{BYSTANDER}/comm": MARK,
    f"/proc/{BYSTANDER}/task/{BYSTANDER}/comm": MARK,
    f"/proc/self/task/../../{BYSTANDER}/comm": MARK,
    f"/proc/{GRADER_PID}/comm": MARK,
    f"/proc/{os.getppid()}/comm": MARK,
    f"{own}/root/tmp/{MARK}": MARK,
    f"{own}/cwd/../{MARK}": MARK,
    f"{own}/uid_map": "0 0 1",
    f"{own}/oom_score_adj": "-1000",
    f"{own}/sched_autogroup": "1",
}.items():
    try:
        with open(path, "w") as file:
            file.write(text)
        print(WON, path)
    except OSError:
        continue
for path in (f"{own}/environ", f"{own}/maps", f"/proc/{os.getppid()}/maps", f"/proc/{GRADER_PID}/maps"):
    try:
        print(open(path).read(), WON)
    except OSError:
        continue
for path in ("/proc/self/task", own, f"{own}/fd", f"{own}/net"):
    try:
        print(os.listdir(path), WON)
    except OSError:
        continue
print("nothing but names")
