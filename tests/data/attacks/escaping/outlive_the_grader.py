"""Takes back that it dies with its parent, leaves its session and goes on in a thread. It is ended by its handle."""
# Gets: This exercise is still to do

import ctypes
import os
import threading
import time

from world import MARK, WON

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
libc = ctypes.CDLL(None)
libc.prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0)
try:
    os.setsid()
    print(WON)
except OSError:
    pass


def live_on():
    while True:
        open("alive", "w").close()
        time.sleep(0.01)


threading.Thread(target=live_on).start()
