"""Measure what grading costs: a class, a submission and its verdicts, compared with plain nbgrader."""

__all__ = ["bench"]
