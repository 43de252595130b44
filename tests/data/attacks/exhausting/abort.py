"""Aborts, to leave a core dump with everything that is in memory."""
# Gets: Your code ended the Python process

import os
import resource

try:
    resource.setrlimit(resource.RLIMIT_CORE, (-1, -1))
except (ValueError, OSError):
    pass
os.abort()
