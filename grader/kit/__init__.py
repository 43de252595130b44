"""What exercise files are made of: classes that are put to the test, the rules of dropout, and pictures."""

__all__ = [
    "arithmetic",
    "checking",
    "dropout_rules",
    "module_cases",
    "module_readings",
    "pictures",
    "pieces",
    "showing",
]
