"""A course folder: its settings, folders and exercise files, and our parts in nbgrader's settings."""

__all__ = ["exercise_texts", "folder", "loading"]
