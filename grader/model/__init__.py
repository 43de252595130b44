"""What all rooms talk about: exercises, cases, answers, comparison, verdicts, and what processes tell each other."""

__all__ = [
    "answer",
    "attempt",
    "compare",
    "edited",
    "exercise",
    "fact",
    "findings",
    "forms",
    "located",
    "picture",
    "submission",
    "untrusted",
    "verdict",
]
