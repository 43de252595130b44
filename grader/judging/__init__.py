"""Answers become a verdict: what is right, which mistake has a name, and what else differs."""

__all__ = [
    "answer_key",
    "best_verdict",
    "devices",
    "fitting",
    "identical",
    "judge",
    "judging_time",
    "naming",
    "no_understanding",
    "ordinary",
    "precision",
    "sentences",
    "with_facts",
]
