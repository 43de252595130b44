"""The untrusted side: a process that runs a student's notebook and answers questions about it.

Nothing in this folder knows a reference, an expected value or a misconception, and nothing may import them.
"""

__all__ = [
    "calls",
    "cell_outputs",
    "confine",
    "decoder",
    "forms",
    "nested",
    "notes",
    "plain_text",
    "probes",
    "shell",
    "standin_classes",
    "tables",
    "values",
    "wire",
]
