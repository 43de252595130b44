"""The command line: a file for each group of commands, each of which imports what it needs once it runs."""

__all__ = ["app"]
