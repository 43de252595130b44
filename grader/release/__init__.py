"""Turn source notebooks into those for students, with nothing secret left in them."""

__all__ = ["beside", "compiling", "entering", "first_steps", "known_mistakes", "leaks", "marimo", "one_file"]
