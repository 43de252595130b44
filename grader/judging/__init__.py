"""Answers become a verdict: what is right, which mistake has a name, and what else differs."""

__all__ = ["best_verdict", "judge"]
