"""The term's rules: what course.toml says, and which of the points that grading gave count by it."""

__all__ = ["reading", "rules", "times"]
