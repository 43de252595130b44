"""The beginnings of a course, an assignment and an exercise: the smallest ones that work, to go on from."""

__all__ = ["beginnings"]
