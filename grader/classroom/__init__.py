"""A class is graded: what was handed in is taken in, crews grade it, and the results are written down."""

__all__ = ["fork_server", "handed_in", "intake", "kept", "progress", "rehearsal", "run", "stale", "submission_grader"]
