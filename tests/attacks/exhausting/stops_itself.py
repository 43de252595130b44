"""Stops itself, so that it neither ends nor answers."""
# Gets: Is there an endless loop?

import os
import signal

os.kill(os.getpid(), signal.SIGSTOP)
