"""nbgrader with our parts in it: its steps in memory, its gradebook, and where students stand."""

__all__ = ["class_gradebook", "conversion", "found", "preprocessors", "standings"]
