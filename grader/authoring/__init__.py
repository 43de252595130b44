"""Start a course, an assignment or an exercise: the smallest ones that work, to build on."""

__all__ = ["beginnings"]
