"""What all rooms talk about: exercises, cases, answers, comparison, verdicts, and what processes tell each other."""

__all__ = [
    "answer",
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
    "ordinary",
    "plain_parts",
    "plain_values",
    "submission",
    "untrusted",
    "verdict",
]
