"""What people read: feedback, the class report, pictures and charts, similar code, and exports."""

__all__ = [
    "changes",
    "export",
    "feedback",
    "feedback_page",
    "other_forms",
    "platforms",
    "publish",
    "report",
    "sections",
    "spreadsheet",
    "whole_term",
]
