"""The terms that all rooms share: exercises, cases, answers, comparison, verdicts, and messages between processes."""

__all__ = [
    "answer",
    "broken_rules",
    "change",
    "compare",
    "denied",
    "edited",
    "exercise",
    "exercise_files",
    "fact",
    "findings",
    "forms",
    "label",
    "located",
    "misconception",
    "ordinary",
    "plain_parts",
    "plain_values",
    "submission",
    "untrusted",
    "verdict",
]
