"""nbgrader with our parts plugged in: its steps in memory, its gradebook, and where students stand."""

__all__ = [
    "class_gradebook",
    "class_rows",
    "connection",
    "conversion",
    "counting",
    "due_dates",
    "earlier_attempts",
    "fingerprint",
    "graded",
    "hidden_seed",
    "items",
    "marks",
    "preprocessors",
    "published",
    "records",
    "roster",
    "settings",
    "settling",
    "standings",
    "term_grades",
]
