"""nbgrader with our parts plugged in: its steps in memory, its gradebook, and where students stand."""

__all__ = [
    "class_gradebook",
    "class_rows",
    "connection",
    "conversion",
    "counting",
    "due_dates",
    "fingerprint",
    "graded",
    "hidden_seed",
    "items",
    "preprocessors",
    "published",
    "records",
    "roster",
    "set_aside",
    "settings",
    "settling",
    "standings",
    "term_grades",
]
