"""Looks for tokens in the environment. It holds nothing of the grader's."""
# Gets: no token

import ctypes
import os

from world import WON

ctypes.CDLL(None).getenv.restype = ctypes.c_char_p
print(dict(os.environ), ctypes.CDLL(None).getenv(b"SECRET_TOKEN"))
print(WON if "SECRET_TOKEN" in os.environ else "no token")
