"""What all rooms talk about: exercises, cases, answers, comparison, verdicts, and what processes tell each other."""

__all__ = [
    "answer",
    "attempt",
    "compare",
    "exercise",
    "fact",
    "findings",
    "forms",
    "picture",
    "submission",
    "untrusted",
    "verdict",
]
