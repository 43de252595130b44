"""The seed of a submission's hidden inputs, beside its own content: something that no student can know or keep.

Code sees its inputs, and finds ways to report them: an error message is enough. So they must be useless later. They
follow from a secret that lies beside the gradebook, and from how often the student has submitted.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
import tempfile
from dataclasses import dataclass
from pathlib import Path

from grader.errors import CourseError

SECRET_FILE = ".grader_secret"
_BYTES = 32


@dataclass(frozen=True)
class Attempt:
    """One of a student's attempts: its number, and a digest of its content."""

    number: int
    digest: str

    @classmethod
    def after(cls, previous: Attempt | None, digest: str) -> Attempt:
        """The attempt after `previous`, or `previous` itself if it is graded again."""
        if previous is None:
            return cls(1, digest)
        return previous if previous.digest == digest else cls(previous.number + 1, digest)


def secret_of(course: Path) -> bytes:
    """The secret of a course folder, made when first needed."""
    path = course / SECRET_FILE
    with contextlib.suppress(FileNotFoundError):
        secret = path.read_bytes()
        if secret:
            return secret
        raise CourseError(  # perhaps after a power cut; anybody could guess an empty one
            f"{path} is empty, so it is not a secret. Restore a copy, or delete it: the next run then makes a new one "
            "and regrades everything."
        )
    descriptor, new = tempfile.mkstemp(prefix=SECRET_FILE, dir=course)  # readable by its owner alone
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(_BYTES))
        with contextlib.suppress(FileExistsError):  # somebody else was first
            os.link(new, path)
    finally:
        Path(new).unlink()
    return path.read_bytes()


def hidden_seed(secret: bytes, assignment: str, student: str, attempt: int | str = 1) -> str:
    """The seed for an attempt, given by its number, or by a random text where attempts cannot be counted."""
    text = "\0".join((assignment, student, str(attempt))).encode("utf-8", "surrogateescape")
    return hmac.new(secret, text, hashlib.sha256).hexdigest()
