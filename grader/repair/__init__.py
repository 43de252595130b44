"""The search for the line that is wrong: the code is changed in one location after the other until all is right."""

__all__ = ["edits", "locating", "sites", "version", "with_lines"]
