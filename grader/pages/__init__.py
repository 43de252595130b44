"""What people read: feedback, the class report, pictures, copies."""

__all__ = [
    "feedback",
    "feedback_page",
    "page_parts",
    "report",
    "sections",
    "spreadsheet",
    "text_html",
]
