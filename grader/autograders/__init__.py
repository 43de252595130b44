"""Grading on Gradescope: files to send there, and code that runs there."""

__all__ = ["gradescope_files"]
