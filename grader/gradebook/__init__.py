"""nbgrader with our parts in it: its steps in memory, its gradebook, and where students stand."""

__all__ = [
    "class_gradebook",
    "class_rows",
    "connection",
    "conversion",
    "fingerprint",
    "found",
    "hidden_seed",
    "items",
    "late",
    "preprocessors",
    "published",
    "records",
    "settings",
    "settling",
    "standings",
    "term_grades",
]
