"""Starts a program when the process ends, when limits may be gone. They are not, and it is killed, not ended."""
# Gets: There is no function called compute_qkv

import atexit
import signal
import subprocess
import threading

from world import CANARY


def spawn(*args):
    subprocess.Popen(["touch", f"{CANARY}/at-exit"])


atexit.register(spawn)
threading._register_atexit(spawn)
signal.signal(signal.SIGTERM, spawn)
