"""Answers become a verdict: what is right, which mistake has a name, and what else differs."""

__all__ = [
    "answer_key",
    "best_verdict",
    "fitting",
    "identical",
    "judge",
    "judging_time",
    "naming",
    "no_understanding",
    "ordinary_scores",
    "precision",
    "sentences",
    "with_facts",
    "wrong_device",
]
