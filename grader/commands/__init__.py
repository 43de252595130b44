"""The commands for a class; each imports what it needs once it runs."""

__all__ = ["collecting", "grading", "options", "sending", "students", "telling"]
