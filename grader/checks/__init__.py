"""Check that a course holds up: `grader validate`, trying out student code, and a made-up class to look at."""

__all__ = ["demo", "sound_cases", "table", "trying", "validate"]
