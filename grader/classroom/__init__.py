"""Grading a class: submissions are taken in, crews grade them, and the results are written down."""

__all__ = [
    "attempts",
    "folder_walk",
    "fork_server",
    "intake",
    "local_crew",
    "progress",
    "rehearsal",
    "run",
    "stale",
    "submission_grader",
    "submitted_files",
    "terminal_tables",
]
