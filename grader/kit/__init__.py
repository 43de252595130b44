"""Building blocks of exercise files: cases and readings for classes, the rules of dropout, and pictures."""

__all__ = [
    "arithmetic",
    "checking",
    "dropout_rules",
    "endless",
    "module_cases",
    "module_readings",
    "pictures",
    "pieces",
    "recognizing",
    "showing",
    "visible_examples",
]
