"""What grading costs: a class, a submission and its verdicts, beside plain nbgrader."""

__all__ = ["bench"]
