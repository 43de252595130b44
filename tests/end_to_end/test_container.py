"""The grader where people have it: in a container without privileges. See docs/containers.md.

There a sandbox has no disk of its own, so what is proved here is proved for the folder that is watched.
"""

from __future__ import annotations

import json
import sys
import tempfile

import pytest

from grader.course.folder import Course
from support.container import REFUSED, USER, run, skip_unless_it_can_be_started
from support.places import ROOT

pytestmark = [pytest.mark.user, pytest.mark.proof]

WHO = """
import os, sys
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines())
print(os.getuid(), status["CapEff"], status["CapBnd"], status["NoNewPrivs"], status["Seccomp"])
print(os.path.exists(sys.argv[1]))
"""


@pytest.fixture(scope="module", autouse=True)
def _container() -> None:
    skip_unless_it_can_be_started()


EXAMINE = """
import json
from pathlib import Path
from grader.cli import doctor
print(json.dumps({line.subject: [line.state, line.finding, line.meaning] for line in doctor.examine(Path.cwd())}))
"""


def examined(refused: frozenset[str] = REFUSED, user: int = USER) -> dict[str, tuple[str, str, str]]:
    """What the doctor says there: state, what was found, and what it means."""
    done = run(sys.executable, "-c", EXAMINE, refused=refused, user=user)
    return {what: tuple(said) for what, said in json.loads(done.stdout).items()}


def test_container_has_no_privileges() -> None:
    nothing = "0" * 16
    with tempfile.NamedTemporaryFile(dir="/tmp") as outside:
        done = run(sys.executable, "-c", WHO, outside.name)
    assert done.stdout.split() == [str(USER), nothing, nothing, "1", "2", "False"], done.stderr


def test_doctor_in_container_says_what_works() -> None:
    said = examined()
    assert {said[what][0] for what in ("Landlock", "seccomp", "sandbox")} == {"good"}
    assert said["own disk"][:2] == ("note", "none (PermissionError: [Errno 1] Operation not permitted: 'unshare')")


def test_doctor_in_container_says_that_grading_can_run() -> None:
    done = run(sys.executable, "-m", "grader", "doctor")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "This machine can grade, with every submission in a sandbox." in done.stdout


@pytest.mark.parametrize("user", [USER, 0])
def test_doctor_when_unshare_and_mount_are_allowed_finds_own_disk(user: int) -> None:
    """The profile is all that is in the way, and these two calls are all that is asked of it."""
    assert {"unshare", "mount"} <= REFUSED
    said = examined(REFUSED - {"unshare", "mount"}, user)
    assert said["own disk"][0] == "good"


def test_attacks_in_container_never_succeed(released_course: Course) -> None:
    """Those of test_attacks.py that a container could make a difference to, graded and judged there."""
    tests = str(ROOT / "tests/end_to_end/test_attacks.py")
    asked = "not forging and not corrupting and not without_its_protection and not test_cells_run"
    done = run(
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--basetemp=/tmp/tests",
        f"--released={released_course.root}",
        tests,
        "-k",
        asked,
        shown=[released_course.root],
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "skipped" not in done.stdout.splitlines()[-1]
