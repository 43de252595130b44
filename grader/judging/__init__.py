"""Answers become a verdict: what is right, which mistake has a name, and what else differs."""

__all__ = [
    "answer_key",
    "answered_case",
    "best_verdict",
    "constant_answers",
    "fitting",
    "identical",
    "judge",
    "judging_time",
    "memory_promises",
    "naming",
    "ordinary_scores",
    "precision",
    "with_facts",
    "wording",
    "wrong_device",
]
