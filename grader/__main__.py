"""The entry point: starts slow processes before it imports the rest."""

import gc
import sys
from pathlib import Path

from grader.classroom import fork_server
from grader.host.zygote_process import start_zygote


def main() -> None:
    if "autograde" in sys.argv[1:2] and ("--force" in sys.argv or may_be_new(Path())):
        fork_server.start_early()
    if "try" in sys.argv[1:2]:
        start_zygote()
    from grader.cli.app import run

    try:
        run()
    finally:
        gc.freeze()  # saves a second at exit: Python need not search through what torch and nbgrader leave


def may_be_new(course: Path) -> bool:
    """Whether anybody has submitted since the gradebook was written; only checks the usual names of folders.

    This is a guess: if it is wrong, grading still does all its work, but starts a second or two later.
    """
    submitted = course / "submitted"
    try:
        graded_at = (course / "gradebook.db").stat().st_mtime
        return not submitted.is_dir() or any(path.stat().st_mtime > graded_at for path in submitted.glob("*/*/*"))
    except OSError:  # missing or not readable: grading will report it
        return True


if __name__ == "__main__":
    main()
