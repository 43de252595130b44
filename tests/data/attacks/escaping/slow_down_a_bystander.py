"""Changes the priority, processors and limits of another process."""
# Gets: nothing changed

import os
import resource

from world import BYSTANDER, WON

for way in (
    lambda: os.setpriority(os.PRIO_PROCESS, BYSTANDER, 19),
    lambda: os.sched_setaffinity(BYSTANDER, {0}),
    lambda: os.sched_setscheduler(BYSTANDER, os.SCHED_IDLE, os.sched_param(0)),
    lambda: os.sched_setparam(BYSTANDER, os.sched_param(0)),
    lambda: resource.prlimit(BYSTANDER, resource.RLIMIT_NOFILE, (64, 64)),
):
    try:
        way()
        print(WON)
    except OSError:
        continue
print("nothing changed")
