"""nbgrader with our parts in it: its steps in memory, its gradebook, and where students stand."""

__all__ = [
    "class_gradebook",
    "class_rows",
    "connection",
    "conversion",
    "found",
    "hidden_seed",
    "preprocessors",
    "records",
    "settings",
    "standings",
]
