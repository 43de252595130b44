"""What people read: feedback, the class report, pictures, similar code."""

__all__ = [
    "code_forms",
    "feedback",
    "feedback_page",
    "other_forms",
    "page_parts",
    "report",
    "sections",
    "spreadsheet",
    "text_html",
]
