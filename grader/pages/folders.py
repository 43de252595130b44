"""Where pages are written, below the course."""

REPORT = "report"
