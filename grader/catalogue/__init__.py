"""The exercises of a course as a value: read where they lie, sent as text, imported by nobody's name, and checked."""

__all__ = ["exercise_files", "loading"]
