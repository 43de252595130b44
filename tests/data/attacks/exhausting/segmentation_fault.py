"""Crashes the interpreter."""
# Gets: Your code ended the Python process

import ctypes

ctypes.string_at(0)
