"""Open nbgrader's gradebook: wait while somebody else uses it, and say in plain words why it cannot be used."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from nbgrader.api import Gradebook
from sqlalchemy import URL, Engine, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, OperationalError
from sqlalchemy.orm import Session

from grader.errors import CourseError
from grader.host.patience import patiently

log = logging.getLogger(__name__)

# This imports all of nbgrader's commands, which takes long.
if TYPE_CHECKING:
    from nbgrader.apps.api import NbGraderAPI

PATIENCE = 60.0  # seconds to wait for a gradebook that is locked, or whose server is down
PAUSE = 0.2
# A silent server, a lost network and a locked row become errors after seconds, so that we can say what we are waiting
# for. By themselves, they would take hours or forever.
_LIMITS = {
    "connect_timeout": "5",
    "keepalives_idle": "10",
    "tcp_user_timeout": "20000",
    "options": "-c lock_timeout=1000",
}
_WHOLE = "Nothing is half-saved. Run this again when it works."
_AGAIN = "Run this again when it works."
_FIX = "Fix that, or restore an intact copy, then run this again."

T = TypeVar("T")


def open_gradebook(api: NbGraderAPI) -> Gradebook:
    """Open nbgrader's gradebook, at the address in the configuration. The caller closes it."""
    try:
        url = make_url(api.coursedir.db_url)
        url.get_dialect().import_dbapi()
    except (ArgumentError, ImportError) as error:
        raise CourseError(
            f"Cannot use c.CourseDirectory.db_url: {error}. For PostgreSQL, it begins with postgresql+psycopg://, "
            "and needs: pip install 'psycopg[binary]'"
        ) from None
    limited = _with_limits(url).render_as_string(hide_password=False)
    return _patiently(url, lambda: Gradebook(limited, api.course_id), undo=lambda: None)


def is_emptied(api: NbGraderAPI) -> bool:
    """Whether the gradebook is an empty file: a new one would not be there at all."""
    path = gradebook_file(api)
    return path is not None and path.is_file() and not path.stat().st_size


def is_new(api: NbGraderAPI) -> bool:
    """Whether the gradebook cannot have any content yet."""
    path = gradebook_file(api)
    return path is not None and not (path.is_file() and path.stat().st_size)


def gradebook_file(api: NbGraderAPI) -> Path | None:
    """The file of the gradebook; None if it is on a server."""
    if not api.coursedir.db_url.startswith("sqlite"):
        return None
    name = make_url(api.coursedir.db_url).database
    return Path(name) if name else None


def check_gradebook(api: NbGraderAPI) -> None:
    """Check the gradebook before nbgrader reads it: its errors would blame something else."""
    gradebook = open_gradebook(api)
    url = gradebook.engine.url
    query = text("PRAGMA quick_check(1)" if url.get_backend_name() == "sqlite" else "SELECT 'ok'")
    try:
        verdict = _patiently(url, lambda: gradebook.db.execute(query).scalar(), undo=gradebook.db.rollback)
    finally:
        gradebook.close()
    if verdict != "ok":
        raise CourseError(f"The gradebook {_shown_address(url)} cannot be used: it is damaged. {_FIX}")


def copy_gradebook(api: NbGraderAPI, copy: Path) -> str:
    """Copy the gradebook for a trial and return the address; the copy is empty if the gradebook is on a server."""
    address = f"sqlite:///{copy}"
    gradebook = open_gradebook(api)
    url = gradebook.engine.url
    try:
        if url.get_backend_name() == "sqlite":
            # SQLite itself makes the copy, so it has all rows, whether they are in the file or still in its journal.
            statement, values = text("VACUUM INTO :copy"), {"copy": str(copy)}
            _patiently(url, lambda: gradebook.db.execute(statement, values), undo=gradebook.db.rollback)
    finally:
        gradebook.close()
    return address


class PatientSession:
    """A session of a gradebook that tries again while somebody else uses the gradebook."""

    def __init__(self, gradebook: Gradebook) -> None:
        self.db: Session = gradebook.db  # SQLAlchemy's own, which does not wait
        self.engine: Engine = gradebook.engine
        self._file = _identity(self.engine.url)

    def patiently(self, work: Callable[[], T]) -> T:
        """Do all of this work, or none of it."""
        try:
            return _patiently(self.engine.url, work, self._undo, _WHOLE)
        except BaseException:
            self.db.rollback()
            raise

    def commit(self) -> None:
        self._check_file()
        self.db.commit()

    def _undo(self) -> None:
        self.db.rollback()
        self._check_file()

    def _check_file(self) -> None:
        if self._file != _identity(self.engine.url):
            raise CourseError("The gradebook was removed or replaced during the run. Put it back, then run this again.")


def _patiently(url: URL, work: Callable[[], T], undo: Callable[[], None], again: str = _AGAIN) -> T:
    """Do some work; wait while somebody else uses the gradebook, and say so."""
    until = time.monotonic() + PATIENCE

    def pause_after(error: Exception, failed: int) -> float:
        if not isinstance(error, DBAPIError):
            raise error
        undo()
        may_pass = _may_pass(url, error)
        if not may_pass or time.monotonic() > until:
            hint = again if may_pass else _FIX
            raise CourseError(
                f"The gradebook {_shown_address(url)} cannot be used: {_reason(error)}. {hint}"
            ) from error
        if not failed:
            log.warning(f"The gradebook does not respond ({_reason(error)}). Waiting for it …")
        return PAUSE

    return patiently(work, pause_after)


_MAY_PASS = ("locked", "disk is full")


def _may_pass(url: URL, error: DBAPIError) -> bool:
    """Whether waiting can help: others may lock it, fill the disk, add the same student, or restart the server."""
    if url.get_backend_name() == "sqlite":
        return isinstance(error, OperationalError) and any(reason in str(error.orig) for reason in _MAY_PASS)
    return isinstance(error, (OperationalError, IntegrityError))


def _with_limits(url: URL) -> URL:
    if url.get_driver_name() not in ("psycopg", "psycopg2"):
        return url
    return url.set(query={**_LIMITS, **url.query})


def _shown_address(url: URL) -> str:
    """The file or address of the gradebook, without a password."""
    if url.get_backend_name() == "sqlite":
        return str(url.database)
    return url.set(query={}).render_as_string()


def _reason(error: DBAPIError) -> str:
    lines = str(error.orig).strip().splitlines()
    return lines[0] if lines else type(error.orig).__name__


def _identity(url: URL) -> tuple[int, int] | None:
    """Which file the gradebook is: device and inode; None for a server."""
    if url.get_backend_name() != "sqlite" or not url.database:
        return None
    try:
        status = Path(url.database).stat()
    except OSError:
        return (0, 0)
    return (status.st_dev, status.st_ino)
