"""The rules of the term: read them from course.toml, and apply them to points."""

__all__ = ["page_changes", "reading", "rules", "times"]
