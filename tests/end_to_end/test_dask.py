"""A class on the workers of a Dask scheduler: real processes on loopback, which are killed in the middle."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import dask
import nbformat
import psutil
import pytest
from dask_processes import START_SECONDS, Cluster

from grader.classroom import dask_crew
from grader.classroom.run import autograde
from grader.cli import app
from grader.collecting.collect import CollectOptions, collect
from grader.course.folder import Course
from grader.errors import CourseError
from grader.model.submission import Graded, Submission
from support.observers import Messages
from support.places import ROOT
from support.snapshots import files, rows

pytestmark = pytest.mark.slow

ASSIGNMENT = "self_attention"

# Workers load this before anything else. The first one that has the student "stuck" stays at the first test cell until
# it is killed. Whoever touches the course's folder or a database fails.
STAY = """
import os, sys, threading
from grader.host.grading import Grading

def stay(grading, cell, verdict=Grading._verdict):
    if grading.settings.student == "stuck":
        path = os.environ["STUCK"]
        try:
            os.mkdir(path + ".taken")
        except FileExistsError:
            return verdict(grading, cell)
        with open(path + ".new", "x") as file:
            file.write(str(os.getpid()))
        os.rename(path + ".new", path)
        threading.Event().wait()
    return verdict(grading, cell)

def watch(event, arguments):
    course = os.environ["COURSE"]
    if event == "sqlite3.connect" or event in ("open", "os.listdir") and str(arguments[0]).startswith(course):
        raise RuntimeError(f"a worker did {event} {arguments}")

Grading._verdict = stay
sys.addaudithook(watch)
"""
# The worker is killed whenever it begins with "eve".
KILL = """
import os, signal
from distributed import Worker

def kill(worker, topic, student, log_event=Worker.log_event):
    if student == "eve":
        os.kill(os.getpid(), signal.SIGKILL)
    log_event(worker, topic, student)

Worker.log_event = kill
"""
# Nobody can be graded while another is.
ALONE = """
import threading
from grader.classroom.submission_grader import SubmissionGrader

def alone(worker, submission, grade=SubmissionGrader.grade, busy=threading.Lock()):
    if not busy.acquire(blocking=False):
        raise RuntimeError("two at once")
    try:
        return grade(worker, submission)
    finally:
        busy.release()

SubmissionGrader.grade = alone
"""
CANNOT_CONFINE = "import grader.sandbox.confine as confine; confine.why_not = lambda: 'this kernel has no Landlock'"


@pytest.fixture
def new_cluster(tmp_path: Path) -> Iterator[Callable[..., Cluster]]:
    clusters: list[Cluster] = []

    def make(*options: str, **environment: str) -> Cluster:
        clusters.append(Cluster(tmp_path / f"cluster-{len(clusters)}", *options, **environment))
        return clusters[-1]

    yield make
    for cluster in clusters:
        cluster.close()


class Watcher:
    """Does something at the first look after a file has appeared."""

    def __init__(self, path: Path, action: Callable[[], None]) -> None:
        self._path, self._action = path, action
        self.seen: set[str] = set()

    def look(self, running: Mapping[str, float]) -> None:
        self.seen |= set(running)
        if self._path.exists():
            action, self._action = self._action, lambda: None
            action()


def hand_in_some(course: Course, submit: Callable[..., Path], solved: dict[int, str], count: int = 6) -> None:
    """Different ones, and one that is graded by a worker that is killed meanwhile."""
    for number in range(1, count):
        submit(course, f"s{number}", {number: solved[number], 3: solved[3]})
    folder = submit(course, "stuck", {3: "from mine import softmax"}).parent
    (folder / "mine.py").write_text(solved[3])
    (folder / "large.txt").write_bytes(b"x" * 11 * 2**20)


@pytest.fixture(scope="module")
def graded_here(
    new_course: Callable[[], Course], submit: Callable[..., Path], solved: dict[int, str]
) -> tuple[object, object]:
    """What is written down where the same are graded without Dask."""
    course = new_course()
    hand_in_some(course, submit, solved)
    list(autograde(course, ASSIGNMENT))
    return rows(course), files(course)


def test_dask_when_worker_is_killed_grades_everyone(
    course: Course,
    graded_here: tuple[object, object],
    new_cluster: Callable[..., Cluster],
    submit: Callable[..., Path],
    solved: dict[int, str],
    tmp_path: Path,
    messages: Messages,
) -> None:
    """Everyone has one grade, the same as without Dask, and nothing of the dead worker is left."""
    hand_in_some(course, submit, solved)
    cluster = new_cluster()
    stuck = tmp_path / "stuck"
    workers: dict[int, subprocess.Popen[bytes]] = {}
    for _ in range(2):
        process = cluster.worker(STAY, STUCK=str(stuck), COURSE=str(course.root))
        workers[process.pid] = process
    cluster.wait_for(2)
    left: list[psutil.Process] = []

    def kill() -> None:
        pid = int(stuck.read_text())
        left.extend(psutil.Process(pid).children(recursive=True))
        workers[pid].kill()

    watcher = Watcher(stuck, kill)
    results = list(autograde(course, ASSIGNMENT, dask=cluster.address, watch=watcher.look))
    assert sorted(one.student for one in results) == course.students(ASSIGNMENT)
    assert [one.error for one in results if one.error] == []
    assert workers[int(stuck.read_text())].wait() == -signal.SIGKILL
    assert len(left) >= 2  # a zygote and a sandbox
    assert psutil.wait_procs(left, timeout=START_SECONDS)[1] == []
    assert "stuck" in watcher.seen
    (warning,) = messages.texts
    assert warning.startswith(f"Without TLS, anyone who can reach {cluster.address} can set any grade")
    assert (rows(course), files(course)) == graded_here


@pytest.mark.proof
def test_dask_when_scheduler_vanishes_keeps_finished_grades(
    course: Course,
    graded_here: tuple[object, object],
    new_cluster: Callable[..., Cluster],
    submit: Callable[..., Path],
    solved: dict[int, str],
    tmp_path: Path,
) -> None:
    """The next run does the rest."""
    hand_in_some(course, submit, solved)
    cluster = new_cluster()
    stuck = tmp_path / "stuck"
    cluster.worker(STAY, STUCK=str(stuck), COURSE=str(course.root))
    results: list[str] = []
    run = autograde(course, ASSIGNMENT, dask=cluster.address, watch=Watcher(stuck, cluster.scheduler.kill).look)
    with pytest.raises(CourseError, match=r"Lost the connection to the scheduler tcp://.*run this again"):
        results.extend(one.student for one in run)
    assert {"s1", "s2", "s3", "s4"} <= set(results) <= {"s1", "s2", "s3", "s4", "s5"}  # two are under way at a time
    assert {one.student for one in autograde(course, ASSIGNMENT) if one.unchanged} == set(results)
    assert (rows(course), files(course)) == graded_here


@pytest.mark.proof
def test_dask_when_submission_kills_every_worker_fails_only_its_student(
    course: Course, new_cluster: Callable[..., Cluster], submit: Callable[..., Path], solved: dict[int, str]
) -> None:
    """Others wait on the same worker when it dies; the scheduler cannot tell who was to blame."""
    for student in ("ada", "eve", "zoe"):
        submit(course, student, {3: solved[3]})
    cluster = new_cluster(DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0")
    cluster.worker(KILL, "--nanny")
    results = {one.student: one for one in autograde(course, ASSIGNMENT, dask=cluster.address)}
    assert (results["ada"].points, results["zoe"].points) == (2, 2)
    assert "killed" in results["eve"].error


def test_dask_when_worker_has_threads_grades_as_without_dask(
    course: Course,
    new_cluster: Callable[..., Cluster],
    submit: Callable[..., Path],
    solved: dict[int, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And no more submissions are taken in than can be graded soon."""
    for number in range(1, 9):
        for copy in "ab":
            submit(course, f"s{number}{copy}", {number: solved[number], 3: solved[3]})
    cluster = new_cluster()
    cluster.worker(ALONE, "--nthreads", "3")
    cluster.wait_for(1)
    under_way: set[str] = set()
    most = 0
    grade = dask_crew.DaskCrew.grade

    def count_in(submissions: Iterable[Submission]) -> Iterator[Submission]:
        nonlocal most
        for submission in submissions:
            under_way.add(submission.student)
            most = max(most, len(under_way))
            yield submission

    def count_out(crew: Any, submissions: Iterable[Submission]) -> Iterator[Graded | None]:
        for graded in grade(crew, count_in(submissions)):
            if graded is not None:
                under_way.remove(graded.student)
            yield graded

    monkeypatch.setattr(dask_crew.DaskCrew, "grade", count_out)
    results = {one.student: one for one in autograde(course, ASSIGNMENT, dask=cluster.address)}
    alone = {one.student: one for one in autograde(course, ASSIGNMENT, force=True)}
    assert {name: one.verdicts for name, one in results.items()} == {name: one.verdicts for name, one in alone.items()}
    assert most == 6


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A scheduler that several tests give workers to."""
    cluster = Cluster(tmp_path_factory.mktemp("dask") / "cluster")
    yield cluster
    cluster.close()


@pytest.fixture
def other_grader(tmp_path: Path) -> Path:
    """A folder with this package, in which a word differs."""
    copy = shutil.copytree(ROOT / "grader", tmp_path / "other/grader")
    with (copy / "judging/judge.py").open("a") as file:
        file.write("# another version\n")
    return copy.parent


@pytest.mark.parametrize(
    ("preload", "says"),
    [
        (CANNOT_CONFINE, r"worker tcp://.* cannot confine submissions: this kernel has no Landlock"),
        ("", r"worker tcp://.* has another version of the grader\. Install"),
    ],
    ids=["cannot confine", "another version"],
)
def test_dask_when_worker_is_unfit_names_it(
    preload: str,
    says: str,
    course: Course,
    scheduler: Cluster,
    submit: Callable[..., Path],
    other_grader: Path,
) -> None:
    submit(course, "ada")
    process = scheduler.worker(preload, packages=ROOT if preload else other_grader)
    with pytest.raises(CourseError, match=says):
        list(autograde(course, ASSIGNMENT, dask=scheduler.address))
    assert not (course.root / "autograded/ada").exists()
    process.kill()
    process.wait()


def test_dask_sends_exercises_of_course_folder_to_workers(
    course: Course, scheduler: Cluster, submit: Callable[..., Path], solved: Any
) -> None:
    submit(course, "ada", {3: solved[3]})
    folder = course.root / "exercises"
    shutil.copytree(ROOT / "grader/exercises", folder)
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write('\nc.GraderCourse.exercises = "exercises"\n')
    changed = folder / "ex03_softmax.py"
    changed.write_text(re.sub('title=".*"', 'title="only in this course"', changed.read_text()))
    process = scheduler.worker()
    (result,) = autograde(Course(course.root), ASSIGNMENT, dask=scheduler.address)
    assert (result.points, result.error) == (2, "")
    assert "only in this course" in {scored.verdict.title for scored in result.verdicts}
    process.kill()
    process.wait()


@pytest.mark.proof
def test_dask_when_best_counts_equals_local_grading(
    new_course: Callable[[], Course], scheduler: Cluster, make_notebook: Any, solved: Any, tmp_path: Path
) -> None:
    here, there = new_course(), new_course()
    for day, numbers in enumerate([(1, 3), (3,)], start=12):
        folder = tmp_path / f"inbox/ada+{ASSIGNMENT}+2026-10-{day} 07:00:00 UTC"
        folder.mkdir(parents=True)
        notebook = make_notebook(here, {number: solved[number] for number in numbers})
        nbformat.write(notebook, folder / f"{ASSIGNMENT}.ipynb")
    for course in (here, there):
        (course.root / "course.toml").write_text('counts = "best"\n')
        list(collect(course, ASSIGNMENT, [tmp_path / "inbox"], CollectOptions(as_named=True)))
    process = scheduler.worker()
    (result,) = autograde(there, ASSIGNMENT, dask=scheduler.address)
    assert (result.points, result.error) == (5, "")
    list(autograde(here, ASSIGNMENT))
    assert (rows(there), files(there)) == (rows(here), files(here))
    process.kill()
    process.wait()


def test_dask_when_config_works_only_locally_says_so(
    course: Course, scheduler: Cluster, submit: Callable[..., Path]
) -> None:
    submit(course, "ada")
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write(f"\nimport os\nassert os.getpid() == {os.getpid()}, 'only here'\n")
    process = scheduler.worker()
    with pytest.raises(CourseError, match=r"cannot use nbgrader_config\.py: AssertionError: only here"):
        list(autograde(Course(course.root), ASSIGNMENT, dask=scheduler.address))
    process.kill()
    process.wait()


def test_dask_when_scheduler_has_no_workers_gives_up(
    course: Course, new_cluster: Callable[..., Cluster], submit: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_crew, "PATIENCE", 0.0)
    submit(course, "ada")
    with pytest.raises(CourseError, match="has had no workers"):
        list(autograde(course, ASSIGNMENT, dask=new_cluster().address))


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("127.0.0.1:{port}", "Cannot connect"),
        ("tls://127.0.0.1:{port}", "TLS"),
        ("carrier://pigeon", "carrier"),
    ],
)
def test_dask_when_no_scheduler_answers_prints_one_line(
    address: str,
    says: str,
    course: Course,
    submit: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One line, and no traceback."""
    monkeypatch.setattr(dask_crew, "CONNECT_SECONDS", 0.5)
    submit(course, "ada")
    monkeypatch.chdir(course.root)
    with socket.socket() as taken:  # nobody listens there
        taken.bind(("127.0.0.1", 0))
        address = address.format(port=taken.getsockname()[1])
        monkeypatch.setattr(sys, "argv", ["grader", "autograde", ASSIGNMENT, "--dask", address])
        with pytest.raises(SystemExit, match="1"):
            app.run()
    *warnings, line = capsys.readouterr().err.splitlines()
    assert [warning[:11] for warning in warnings] == ["Without TLS"] * (not address.startswith("tls:"))
    assert says in line
    assert address in line


def test_dask_when_not_installed_names_the_extra(
    course: Course, submit: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    submit(course, "ada")
    monkeypatch.delitem(sys.modules, "grader.classroom.dask_crew")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(CourseError, match=r"pip install 'attention-grader\[dask\]'"):
        list(autograde(course, ASSIGNMENT, dask="127.0.0.1:1"))


def test_dask_with_tls_refuses_connections_without_certificate(
    course: Course,
    new_cluster: Callable[..., Cluster],
    submit: Callable[..., Path],
    solved: dict[int, str],
    tmp_path: Path,
    messages: Messages,
) -> None:
    """The head takes its certificate from Dask's own configuration, as all do."""
    submit(course, "ada", {3: solved[3]})
    certificate, key = make_certificate(tmp_path / "course")
    trusted = ("--tls-ca-file", certificate)
    cluster = new_cluster("--protocol", "tls", *trusted, "--tls-cert", certificate, "--tls-key", key)
    assert cluster.address.startswith("tls://")

    other, other_key = make_certificate(tmp_path / "other")
    intruder = cluster.worker("", *trusted, "--tls-cert", other, "--tls-key", other_key, "--death-timeout", "2")
    assert intruder.wait(START_SECONDS) != 0
    host, port = cluster.address.removeprefix("tls://").split(":")
    context = ssl.create_default_context(cafile=certificate)
    context.check_hostname = False
    with (
        socket.create_connection((host, int(port))) as plain,
        pytest.raises(ssl.SSLError, match="CERTIFICATE_REQUIRED"),
        context.wrap_socket(plain) as wrapped,
    ):
        wrapped.recv(1)

    cluster.worker("", *trusted, "--tls-cert", certificate, "--tls-key", key)
    tls = {"ca-file": certificate, "client.cert": certificate, "client.key": key}
    with dask.config.set({f"distributed.comm.tls.{name}": value for name, value in tls.items()}):
        (result,) = autograde(course, ASSIGNMENT, dask=cluster.address)
    assert (result.points, result.error) == (2, "")
    assert messages.texts == []


def make_certificate(path: Path) -> tuple[str, str]:
    """A certificate that vouches for itself, and its key."""
    certificate, key = str(path.with_suffix(".pem")), str(path.with_suffix(".key"))
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=course"]
    order = ["openssl", "req", "-x509", *kind, "-keyout", key, "-out", certificate]
    subprocess.run(order, check=True, capture_output=True)
    return certificate, key
