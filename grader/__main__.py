"""The way in: what takes long is begun before the rest is imported."""

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
        gc.freeze()  # the interpreter need not look through all that torch and nbgrader have left, which takes a second


def may_be_new(course: Path) -> bool:
    """Whether somebody has handed in since the gradebook was written, by the names that most courses have.

    If not, most of the time nothing is to be run; if something is all the same, it is a second or two late.
    """
    submitted = course / "submitted"
    try:
        then = (course / "gradebook.db").stat().st_mtime
        return not submitted.is_dir() or any(path.stat().st_mtime > then for path in submitted.glob("*/*/*"))
    except OSError:  # it is not there, or nobody may look: grading will say so
        return True


if __name__ == "__main__":
    main()
