"""What people read: feedback, the class report, pictures, copies."""

__all__ = [
    "feedback",
    "feedback_page",
    "other_forms",
    "page_parts",
    "report",
    "sections",
    "spreadsheet",
    "text_html",
]
