"""What people read: feedback, the class report, pictures, copies."""

__all__ = [
    "feedback",
    "feedback_content",
    "feedback_page",
    "headings",
    "page_parts",
    "report",
    "spreadsheet",
    "talk",
    "text_html",
]
