"""Building blocks of exercise files: cases and readings for classes, the rules of dropout, and pictures."""

__all__ = [
    "call_arguments",
    "cell_runs",
    "checking",
    "diagnosis",
    "dropout_rules",
    "earlier_functions",
    "endless",
    "module_cases",
    "module_examples",
    "module_readings",
    "pictures",
    "piece_examples",
    "pieces",
    "recognizing",
    "showing",
    "time_limit",
    "visible_examples",
]
