"""nbgrader's own tests of `nbgrader autograde`, as shipped with it, run with our reader, repairer and judge wired in.

Those in DOES_NOT_APPLY expect what this course decides otherwise; the table says why, and where our own tests make
the same claim. All others must pass. A third of them is run, in a process of their own, because they change its working
folder.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from nbgrader.dbutil import write_alembic_ini
from nbgrader.tests.apps import test_nbgrader_autograde as upstream

from grader.course.folder import CONFIG_FILE
from support.places import ROOT

pytestmark = [pytest.mark.user, pytest.mark.proof]

SUITE = "nbgrader.tests.apps.test_nbgrader_autograde"

NO_KERNEL = "Expects an error for a kernel that is not installed. Here everything is run as Python, without a kernel"
NOTHING_FAILS = "Expects a submission with foreign cells to fail. Here it is graded for what it contains, with a note"
PATHS, HOSTILE = "test_nbgrader_paths.py", "test_hostile_notebooks.py"

DOES_NOT_APPLY = {
    "test_autograde_timeout": "Expects that a cell which sleeps for 5 seconds has hung after 2. "
    f"Here the time counts in which it computes, and by the clock five times as long ({PATHS} sets the time limit).",
    "test_side_effects": "Expects files that student code wrote beside the graded notebook. "
    "Here it runs in a folder of its own, which is thrown away.",
    "test_handle_failure": f"{NOTHING_FAILS} ({HOSTILE}).",
    "test_handle_failure_single_notebook": f"{NOTHING_FAILS} ({HOSTILE}).",
    "test_missing_source_kernelspec": f"{NO_KERNEL} ({HOSTILE}).",
    "test_incorrect_source_kernelspec": f"{NO_KERNEL} ({HOSTILE}).",
    "test_no_execute": "Expects the outputs of the submission to stay. "
    f"Here they are dropped, because nbgrader reads scores from them ({PATHS} grades without running).",
    "test_many_students": "Skipped by nbgrader itself: it needs a PostgreSQL server.",
    "test_infinite_loop_with_output": "Skipped by nbgrader itself, and it expects that the submission has no grade. "
    f"Here it has one ({PATHS}, the student called memory).",
}

ALL = {name for name in vars(upstream.TestNbGraderAutograde) if name.startswith("test_")}
APPLIES = sorted(ALL - DOES_NOT_APPLY.keys())


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """For each upstream test that was run: "passed", or the message of each failure."""
    folder = tmp_path_factory.mktemp("nbgrader-suite")
    work, settings, report = folder / "work", folder / "settings", folder / "report.xml"
    for needed in (work, settings, folder / "nbgrader" / "docs"):  # the last one: nbgrader's tests look for it
        needed.mkdir(parents=True)
    shutil.copyfile(ROOT / CONFIG_FILE, settings / CONFIG_FILE)  # nbgrader merges it into each test's own
    set_up = environment(folder) | {"JUPYTER_CONFIG_DIR": str(settings)}
    set_up["PATH"] = os.pathsep.join([str(alembic_that_remembers(folder / "programs")), set_up["PATH"]])
    done = subprocess.run(
        [
            sys.executable,
            *("-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, f"--rootdir={work}"),
            *(f"--basetemp={folder / 'temporary'}", f"--junitxml={report}", "--pyargs"),
            *(f"{SUITE}::TestNbGraderAutograde::{name}" for name in APPLIES),
        ],
        cwd=work,
        env=set_up,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert report.is_file(), done.stdout
    found: dict[str, set[str]] = {}
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        name = case.get("name", "").split("[")[0]
        problems = {
            f"{kind.tag}: {kind.get('message')}" for kind in case if kind.tag in ("failure", "error", "skipped")
        }
        found[name] = found.get(name, set()) | (problems or {"passed"})
    return found


def alembic_that_remembers(folder: Path) -> Path:
    """A folder for the path with an `alembic` that says from memory what it has said of its newest version.

    nbgrader asks it for each new gradebook, that is in each test; two thirds of the time went there.
    """
    folder.mkdir()
    real = Path(sys.executable).with_name("alembic")
    write_alembic_ini(str(folder / "alembic.ini"))
    said = subprocess.run([real, "-c", folder / "alembic.ini", "heads"], capture_output=True, text=True, check=True)
    (folder / "heads").write_text(said.stdout)
    program = folder / "alembic"
    program.write_text(f'#!/bin/sh\n[ "$3" = heads ] && exec cat "{folder}/heads"\nexec "{real}" "$@"\n')
    program.chmod(0o755)
    return folder


def environment(folder: Path) -> dict[str, str]:
    """What nbgrader needs: a user's name, a home, and its programs on the path."""
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    return dict(os.environ) | {"USER": "instructor", "HOME": str(folder), "PATH": programs}


@pytest.mark.parametrize("name", APPLIES)
def test_upstream_test_passes(outcomes: dict[str, set[str]], name: str) -> None:
    assert outcomes[name] == {"passed"}


@pytest.mark.parametrize("name", DOES_NOT_APPLY)
def test_inapplicable_upstream_test_still_exists(name: str) -> None:
    assert name in ALL


def test_upstream_suite_uses_our_preprocessors(tmp_path: Path) -> None:
    """The settings that the suite is given are those that nbgrader takes from its settings folder."""
    shutil.copyfile(ROOT / CONFIG_FILE, tmp_path / CONFIG_FILE)
    (tmp_path / "work").mkdir()
    program = (
        "from nbgrader.apps import NbGraderApp; app = NbGraderApp.instance(); app.initialize(['--quiet']); "
        "print(app.config.Autograde)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path / "work",
        env=environment(tmp_path) | {"JUPYTER_CONFIG_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    for ours in ("SubmissionExporter", "RepairSubmission", "RunAndJudge"):
        assert f"grader.gradebook.preprocessors.{ours}" in done.stdout
