"""Knocks at newer doors of the kernel: io_uring, bpf, userfaultfd, keyrings, shared memory, message queues."""
# Gets: all doors closed

import ctypes
import platform

from world import WON

libc = ctypes.CDLL(None, use_errno=True)
x86 = {"io_uring_setup": (425, 8, 0), "bpf": (321, 0, 0), "userfaultfd": (323, 0), "add_key": (248, b"user", b"k", b"v", 1, -3),
       "keyctl": (250, 0, -3, 1), "shmget": (29, 0, 4096, 0o1600), "msgget": (68, 0, 0o1600), "perf_event_open": (298, 0, 0, -1, -1, 0),
       "open_by_handle_at": (304, 3, 0, 0), "pidfd_open": (434, 1, 0), "mq_open": (240, b"queue", 0o102, 0o600, 0)}
numbers = x86.values() if platform.machine() == "x86_64" else []
print(WON if any(libc.syscall(*call) >= 0 for call in numbers) else "all doors closed")
