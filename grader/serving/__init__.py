"""A server where students submit and read the verdict within seconds: `grader serve`.

What arrives is on disk before anybody is told so. A thread puts it into submitted/ and grades it like
`grader autograde`, so that everything else works on it as on any submission.
"""

__all__ = [
    "arrivals",
    "desk",
    "invitations",
    "lti",
    "receipts",
    "server",
    "student_pages",
    "submit",
]
