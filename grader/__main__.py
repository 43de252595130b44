"""The way in: what takes long is begun before the rest is imported."""

import gc
import sys

from grader.classroom import fork_server


def main() -> None:
    if "autograde" in sys.argv[1:2]:
        fork_server.start_early()
    from grader.cli import run

    try:
        run()
    finally:
        gc.freeze()  # the interpreter need not look through all that torch and nbgrader have left, which takes a second


if __name__ == "__main__":
    main()
