"""What people read: feedback, the class report, pictures and charts, similar code, and exports."""

__all__ = ["export", "feedback", "feedback_page", "report"]
