"""The source notebooks become those for students, and nothing secret is left in them."""

__all__ = ["beside", "compiling", "entering", "leaks", "marimo", "one_file"]
