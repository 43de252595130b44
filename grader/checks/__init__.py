"""Check that a course holds up: `grader validate`, trying out student code, and a made-up class to look at."""

__all__ = ["corpus_checks", "demo", "sound_cases", "student_code", "table", "trying", "validate", "visible_checks"]
