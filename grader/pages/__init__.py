"""What people read: feedback, the class report, pictures and charts, similar code, and exports."""

__all__ = [
    "changes",
    "feedback",
    "feedback_page",
    "other_forms",
    "platforms",
    "publish",
    "report",
    "sections",
    "whole_term",
]
