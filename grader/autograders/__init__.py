"""Grading on other platforms: what goes there, and what is done there."""

__all__ = ["gradescope_files", "workflows"]
