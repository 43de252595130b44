"""Grading where another platform runs it: what travels there, and what is done there."""

__all__ = ["gradescope_files", "workflows"]
