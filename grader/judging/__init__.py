"""Answers become a verdict: what is right, which mistake has a name, and what else differs."""

__all__ = [
    "answer_key",
    "asking_again",
    "best_verdict",
    "code_facts",
    "combined",
    "device_facts",
    "forbidden",
    "judge",
    "judging_time",
    "locating",
    "no_understanding",
    "one_solution",
    "ordinary",
    "plain_code",
    "reached",
    "sentences",
    "slips",
    "tolerance",
    "with_facts",
    "with_lines",
]
