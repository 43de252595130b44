"""The command line, one file for each group of commands. A command imports what it needs when it runs."""

__all__ = ["app"]
