"""Submissions from wherever they are: matched with students, recognised by their content, put into submitted/."""

__all__ = ["choosing", "collect", "enrolling", "files", "folders", "recognising", "rosters", "students", "uploads"]
