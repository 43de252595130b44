"""Start a course, an assignment, an exercise or a mistake: the smallest ones that work, to build on."""

__all__ = ["beginnings", "new_mistake"]
