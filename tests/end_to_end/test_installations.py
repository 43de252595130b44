"""Ways to install the package: from one wheel to the grades of three students, by each of them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grader.course.folder import Course
from grader.notebooks.cells import solved
from support.second_course import WRONG, copy_of_second_course

pytestmark = pytest.mark.proof

ASSIGNMENT = "words"
POINTS = {"ada": 7.0, "grace": 0.0, "kurt": 3.0}
HERE = f"python{sys.version_info.major}.{sys.version_info.minor}"
BASE = str(Path(sys._base_executable).resolve())  # type: ignore[attr-defined]  # no environment's
NOBODY = 65534
# What pip would bring, without the package of this repository, which is to come from the wheel.
LEFT_OUT = ("__editable__*", "attention_grader*")


@dataclass(frozen=True)
class Installation:
    """How to start the command, and in which environment, beside what is needed to find programs."""

    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    home: bool = True
    prepare: Callable[[Path], None] = lambda _: None  # the course folder

    def grader(self, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        home = {"HOME": str(folder)} if self.home else {}
        environment = {"PATH": os.defpath, "LANG": "C.UTF-8", **home, **self.environment}
        order = [*self.command, *arguments]
        return subprocess.run(order, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def libraries(target: Path) -> None:
    """All requirements, as if they had been installed there: the same files under other names."""
    shutil.copytree(
        sysconfig.get_path("purelib"), target, copy_function=_linked, ignore=shutil.ignore_patterns(*LEFT_OUT)
    )


def _linked(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another disk
        shutil.copy2(source, target)


def pip(python: str, wheel: Path, *options: str, **environment: str) -> None:
    order = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", "--no-index", *options]
    quiet = {"PIP_BREAK_SYSTEM_PACKAGES": "1", "PIP_ROOT_USER_ACTION": "ignore", "PIP_NO_WARN_SCRIPT_LOCATION": "1"}
    subprocess.run([*order, str(wheel)], env={**os.environ, **quiet, **environment}, check=True)


def alembic(folder: Path, python: str) -> None:
    """The program that pip would put there with its package."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "alembic"
    program.write_text(f"#!/bin/sh\nexec '{python}' -m alembic.config \"$@\"\n")
    program.chmod(0o755)


def in_venv(wheel: Path, folder: Path, *how: str) -> Path:
    """Its interpreter."""
    environment = folder / "environment"
    subprocess.run([*(how or (BASE, "-m", "venv", "--without-pip")), str(environment)], check=True)
    libraries(environment / "lib" / HERE / "more/site-packages")
    packages = environment / "lib" / HERE / "site-packages"
    for path in (environment / "lib" / HERE / "more/site-packages").iterdir():
        path.rename(packages / path.name)
    python = environment / "bin/python"
    pip(str(python), wheel)
    alembic(environment / "bin", str(python))
    return python


def venv(wheel: Path, folder: Path) -> Installation:
    return Installation(grader_in(in_venv(wheel, folder).parent.parent))


def shared_venv(wheel: Path) -> Path:
    """One that several ways start from, and leave as it is."""
    folder = wheel.parent.with_name("shared-venv")
    if not folder.exists():
        venv(wheel, folder)
    return folder / "environment"


def grader_in(environment: Path) -> list[str]:
    return [str(environment / "bin/grader")]


def uv_venv(wheel: Path, folder: Path) -> Installation:
    python = in_venv(wheel, folder, sys.executable, "-m", "uv", "venv", "-q", "--no-config", "--python", BASE)
    return Installation(grader_in(python.parent.parent))


def odd_path(wheel: Path, folder: Path) -> Installation:
    return venv(wheel, folder / "Mein Kurs ü")


def without_home(wheel: Path, _folder: Path) -> Installation:
    return Installation(grader_in(shared_venv(wheel)), home=False)


def user(wheel: Path, folder: Path) -> Installation:
    """pip install --user."""
    own = folder / "own"
    libraries(own / "lib" / HERE / "site-packages")
    pip(BASE, wheel, "--user", PYTHONUSERBASE=str(own))
    alembic(own / "bin", BASE)
    return Installation([BASE, str(own / "bin/grader")], {"PYTHONUSERBASE": str(own)})


def system_site_packages(wheel: Path, folder: Path) -> Installation:
    """The wheel in an environment, what it needs outside."""
    outside = user(wheel, folder)
    environment = folder / "environment"
    subprocess.run([BASE, "-m", "venv", "--without-pip", "--system-site-packages", str(environment)], check=True)
    pip(str(environment / "bin/python"), wheel, "--ignore-installed")
    return Installation([str(environment / "bin/grader")], outside.environment)


def target(wheel: Path, folder: Path) -> Installation:
    """pip install --target, and PYTHONPATH."""
    packages = folder / "brought/site-packages"
    libraries(packages)
    pip(BASE, wheel, "--target", str(packages))
    alembic(packages / "bin", BASE)
    return Installation([BASE, "-m", "grader"], {"PYTHONPATH": str(packages)})


def read_only(wheel: Path, _folder: Path) -> Installation:
    """Nobody may write there, not even root."""
    environment = shared_venv(wheel)
    command = grader_in(environment)
    if os.geteuid() == 0:
        mount = f"mount --bind '{environment}' '{environment}' && mount -o remount,ro,bind '{environment}'"
        return Installation(["unshare", "--mount", "sh", "-c", f'{mount} && exec "$0" "$@"', *command])
    subprocess.run(["chmod", "-R", "a-w", str(environment)], check=True)
    return Installation(command)


def course_of_another(wheel: Path, _folder: Path) -> Installation:
    """Who may write in a course folder need not own it."""

    def give_away(course: Path) -> None:
        if os.geteuid() == 0:
            subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", str(course)], check=True)

    return Installation(grader_in(shared_venv(wheel)), prepare=give_away)


WAYS = (uv_venv, odd_path, user, system_site_packages, target, without_home, course_of_another, read_only)


@pytest.fixture
def course(tmp_path: Path) -> Course:
    root = tmp_path / "Kurs 1"
    copy_of_second_course(root)
    return Course(root)


def hand_in(course: Course) -> None:
    for student, answers in {"ada": {}, "grace": None, "kurt": WRONG}.items():
        notebook: Any = course.read("release", ASSIGNMENT)
        if answers is not None:
            notebook = solved(notebook, course.read("source", ASSIGNMENT))
            for cell in notebook.cells:
                cell.source = answers.get(cell.id, cell.source)
        path = course.notebook(f"submitted/{student}", ASSIGNMENT)
        path.parent.mkdir(parents=True)
        nbformat.write(notebook, path)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_installation_grades_a_class(
    way: Callable[[Path, Path], Installation], wheel: Path, tmp_path: Path, course: Course
) -> None:
    installed = way(wheel, tmp_path)
    installed.prepare(course.root)
    released = installed.grader(course.root, "release", ASSIGNMENT)
    assert released.returncode == 0, released.stderr
    hand_in(course)
    installed.prepare(course.root)
    graded = installed.grader(course.root, "autograde", ASSIGNMENT, "--quiet")
    assert (graded.returncode, graded.stdout, graded.stderr) == (0, "", "")
    with course.api().gradebook as gradebook:
        points = {one.student.id: one.score for one in gradebook.assignment_submissions(ASSIGNMENT)}
    assert points == POINTS


def test_autograde_when_packages_are_unreadable_grades_nobody(wheel: Path, tmp_path: Path, course: Course) -> None:
    """A folder of another name: nobody can tell whether it holds packages only."""
    installed = target(wheel, tmp_path)
    named = (tmp_path / "brought/site-packages").rename(tmp_path / "brought/mine")
    installed = Installation(installed.command, {"PYTHONPATH": str(named)})
    assert installed.grader(course.root, "release", ASSIGNMENT).returncode == 0
    hand_in(course)
    ended = installed.grader(course.root, "autograde", ASSIGNMENT)
    said = " ".join(ended.stderr.split())
    assert ended.returncode == 1
    assert said.startswith("Cannot start a sandbox: No module named ")
    assert said.endswith("or rename the folder on your PYTHONPATH.")
    assert not any(student in ended.stdout + said for student in POINTS)
    doctor = installed.grader(course.root, "doctor")
    assert doctor.returncode == 1
    assert "Fix this first, as described above: sandbox." in doctor.stdout
