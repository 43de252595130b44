"""The rules of the term: what course.toml says, and which points count by it."""

__all__ = ["reading", "rules", "times"]
