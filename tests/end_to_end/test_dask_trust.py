"""Dask's workers as attackers: what one sends back is not run in the head, and earns nothing that it should not."""

from __future__ import annotations

import asyncio
import contextlib
import json
import pickle
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from distributed import LocalCluster, protocol
from distributed.comm.utils import from_frames
from distributed.protocol.core import dumps
from distributed.protocol.serialize import ToPickle, deserialize, serialize, to_serialize

from grader.classroom import dask_crew
from grader.classroom.dask_crew import connect
from grader.classroom.intake import read_assignment
from grader.classroom.run import autograde
from grader.classroom.submission_grader import SubmissionGrader
from grader.classroom.worker_results import NoResult, pack, unpack
from grader.course.folder import Course
from grader.errors import CourseError
from grader.gradebook.class_gradebook import ClassGradebook
from grader.gradebook.connection import open_gradebook
from grader.gradebook.settings import read_settings
from grader.model.submission import Assignment, Graded, Submission
from support.dask_processes import START_SECONDS, Cluster

pytestmark = pytest.mark.slow

ASSIGNMENT = "self_attention"
HEAD = "HEAD_OF_THE_CLASS"  # in the environment of a head, and of nobody else

# For some students, this worker answers what the head would run if it unpickled it.
HOSTILE = """
import copyreg, json, os, pickle
from distributed import get_worker, worker
from distributed.protocol import to_serialize
from grader.classroom import dask_worker

CANARY = "import os\\nif os.getenv('HEAD_OF_THE_CLASS'): open(os.environ['CANARY'] + {!r}, 'w').close()"

class Evil:
    def __init__(self, name):
        self.name = name

    def __reduce__(self):
        return exec, (CANARY.format(self.name),)

class Mute(Exception):
    pass

class Kind(type):
    pass

class Odd(bytes, metaclass=Kind):
    pass

copyreg.pickle(Kind, lambda _: (exec, (CANARY.format("kind"),)))

def hostile(wanted, assignment, topic, submission, honest=dask_worker.grade_here):
    order = pickle.loads(submission)
    answer = honest(wanted, assignment, topic, submission)
    match order.student:
        case "result":
            return Evil("result")
        case "inside":
            return {"answer": [answer, Evil("inside")]}
        case "error":
            raise RuntimeError(Evil("error"))
        case "mute":
            raise Mute
        case "event":
            log_event = get_worker().log_event
            log_event(topic, to_serialize(Evil("event")))
            log_event(topic, ["no", {"name": "of a student"}])
            evil = pickle.dumps(Evil("warning"))
            log_event("warn", {"message": evil, "category": evil})
            log_event("print", {"args": ("PRINTED",)})
        case "kind":
            return Odd(answer)
        case "other":
            return answer.replace(b'"other"', b'"ada"')
        case "more":
            return answer.replace(b'"test-exercise-3": 2.0', b'"test-exercise-3": 99.0')
        case "huge":
            return b" " * 101 * 2**20
        case "deep":
            return b"[" * 10**6
    return answer

def told_of(error, honest=worker.error_message):
    told = honest(error)
    if isinstance(error, Mute):  # Dask's own client waits for ever for this one
        told["exception"] = to_serialize(pickle.dumps("no exception at all"))
    return told

dask_worker.grade_here = hostile
worker.error_message = told_of
"""
RUN_IN_THE_HEAD = ("result", "inside", "error", "event", "warning", "kind")
# The head without the fix: Dask's client as it comes.
STOCK = """
import sys
from pathlib import Path
from grader.classroom import dask_crew
from grader.classroom.run import autograde
from grader.course.folder import Course

dask_crew._hear_plain_data_only = lambda: None
for one in autograde(Course(Path(sys.argv[1])), "self_attention", dask=sys.argv[2]):
    print(one.student, one.error)
"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A scheduler, and one worker that is hostile to some."""
    cluster = Cluster(tmp_path_factory.mktemp("hostile") / "cluster")
    cluster.worker(HOSTILE)
    yield cluster
    cluster.close()


@pytest.fixture
def canaries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where what is run in the head leaves its name. This process is a head now."""
    folder = tmp_path / "canaries"
    folder.mkdir()
    monkeypatch.setenv(HEAD, "1")
    monkeypatch.setenv("CANARY", f"{folder}/")
    return folder


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_what_a_worker_sends_is_not_run_and_others_are_graded(
    course: Course,
    hostile: Cluster,
    canaries: Path,
    submit: Callable[..., Path],
    solved: dict[int, str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Who gets an answer that is none is told; `event` and `kind` have an honest one beside the hostile object."""
    says = {
        "result": "did not send a valid result: it is not bytes",
        "inside": "did not send a valid result: it is not bytes",
        "error": "no worker has a result",
        "mute": "no worker has a result",
        "other": "did not send a valid result: it is for another student",
        "more": "did not send a valid result: the score of test-exercise-3 does not follow from its verdict",
        "huge": "did not send a valid result: it has more than 100 MB",
        "deep": "did not send a valid result: it is not JSON",
    }
    graded = ("ada", "event", "kind", "zoe")
    for student in (*says, *graded):
        submit(course, student, {3: solved[3]})
    results = {one.student: one for one in autograde(course, ASSIGNMENT, dask=hostile.address)}
    assert names(canaries) == set()
    assert {student: results[student].points for student in graded} == dict.fromkeys(graded, 2)
    for student, said in says.items():
        assert said in results[student].error
        assert not course.notebook(f"autograded/{student}", ASSIGNMENT).exists()
    assert "the worker tcp://127.0.0.1:" in results["result"].error
    assert "PRINTED" not in capsys.readouterr().out


def test_without_the_fix_all_of_it_is_run(
    course: Course, hostile: Cluster, canaries: Path, submit: Callable[..., Path], solved: dict[int, str]
) -> None:
    """Else these attacks would prove nothing."""
    for student in ("result", "inside", "error", "event", "kind"):
        submit(course, student, {3: solved[3]})
    order = [sys.executable, "-c", STOCK, str(course.root), hostile.address]
    subprocess.run(order, check=True, capture_output=True, timeout=START_SECONDS)
    assert names(canaries) == set(RUN_IN_THE_HEAD)


# --- what is heard of a message --------------------------------------------------------------------------------------


class Command:
    """Its pickle is a command that touches a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


@pytest.fixture
def heard() -> None:
    """This process is one that has asked for a scheduler, as a head does."""
    with pytest.raises(CourseError, match="Cannot connect to a Dask scheduler"):
        connect("127.0.0.1:1", 0.1)


@pytest.mark.usefixtures("heard")
def test_a_message_is_plain_whatever_is_in_it(tmp_path: Path) -> None:
    """What cannot be read is left out, and the rest of the same message is there."""
    evil = Command(tmp_path / "canary")
    message = {
        "op": "task-erred",
        "key": "a",
        "data": {"bytes": to_serialize(b"plain"), "text": to_serialize("pickled"), "evil": to_serialize(evil)},
        "pickled": ToPickle(evil),
        "set": {1},
        "all": [to_serialize([evil, b"plain"]), {"exception": pickle.dumps(evil), "traceback": pickle.dumps(evil)}],
        "type": pickle.dumps(evil),
        "forged": {"__Serialized__": 99},
        "odd": {"__Serialized__": "no", "__Pickled__": None},
    }
    found = asyncio.run(from_frames(dumps(message)))
    assert not (tmp_path / "canary").exists()
    assert (found["op"], found["key"]) == ("task-erred", "a")
    assert found["data"] == {"bytes": b"plain", "text": None, "evil": None}
    assert found["all"][0] is None
    assert isinstance(found["all"][1]["exception"], str)
    assert found["all"][1]["traceback"] is None
    assert [found[name] for name in ("pickled", "set", "type", "forged", "odd")] == [None] * 5


@pytest.mark.usefixtures("heard")
def test_no_name_in_a_pickle_is_looked_up_for_dask(tmp_path: Path) -> None:
    """Also where no message is read; nobody else is kept from it."""
    evil = pickle.dumps(Command(tmp_path / "canary"))
    with pytest.raises(TypeError, match="names something"):
        protocol.pickle.loads(evil)
    for found in (Command(tmp_path / "canary"), bytearray(b"x"), [Command(tmp_path / "canary")]):
        with pytest.raises(TypeError, match="names something"):
            deserialize(*serialize(found))
    assert not (tmp_path / "canary").exists()
    pickle.loads(evil)
    assert (tmp_path / "canary").exists()


# --- what is a result ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def assignment(new_course: Callable[[], Course]) -> Assignment:
    """As the head of a class reads it."""
    course = new_course()
    api = course.api()
    settings = read_settings(course, api, ASSIGNMENT)
    with contextlib.closing(open_gradebook(api, print)) as opened:
        gradebook = ClassGradebook(opened, ASSIGNMENT, settings.penalties, print)
        return read_assignment(course, settings, gradebook, device="cpu", confined=True)


SHOWS = """
import sys, socket
from IPython.display import HTML, SVG, Markdown, display
display(HTML("<b>bold</b>"), Markdown("*text*"), SVG("<svg xmlns='http://www.w3.org/2000/svg'></svg>"), {"a": [1]})
print("\x1b[31mred\x1b[0m", file=sys.stderr)
try:
    socket.socket()
except OSError:
    pass
1 / 0
"""


@pytest.fixture(scope="module")
def honest(
    assignment: Assignment, released_course: Course, make_notebook: Callable[..., Any], solved: dict[int, str]
) -> tuple[Submission, Graded]:
    """A submission with much in it: something shown and something blocked, a lost sandbox, a lost cell, repairs."""
    notebook = make_notebook(released_course, {1: SHOWS, 2: "import os; os._exit(1)", 3: solved[3]}, demos=True)
    notebook.metadata["kernelspec"] = {"name": "R", "language": "R", "display_name": "R"}
    notebook.cells[0].source += "<script>alert(1)</script>"
    notebook.cells = [cell for cell in notebook.cells if cell.id != "test-exercise-5"]
    submission = Submission("ada", {ASSIGNMENT: nbformat.writes(notebook).encode()}, {})
    return submission, SubmissionGrader(assignment).grade(submission)


def test_an_honest_result_arrives_as_it_was(assignment: Assignment, honest: tuple[Submission, Graded]) -> None:
    submission, graded = honest
    assert (graded.points, graded.error) == (2, "")
    assert graded.blocked
    assert unpack(pack(graded), submission, assignment) == graded
    failed = Graded("ada", error="it went wrong")
    assert unpack(pack(failed), submission, assignment) == failed


def cell_of(notebook: Any, name: str) -> Any:
    return next(cell for cell in notebook["cells"] if cell["metadata"].get("nbgrader", {}).get("grade_id") == name)


def verdict_of(notebook: Any, number: int) -> dict[str, Any]:
    outputs = cell_of(notebook, f"test-exercise-{number}")["outputs"]
    return next(one["metadata"]["grader"] for one in outputs if "points" in one["metadata"].get("grader", {}))


def of_notebook(result: Any) -> Any:
    return result["notebooks"][ASSIGNMENT]


def scores_of(result: Any) -> Any:
    return of_notebook(result)["scores"]


def full_marks(result: Any, notebook: Any) -> None:
    """Points alone; the verdict is still that nothing is right."""
    scores_of(result)["test-exercise-1"] = verdict_of(notebook, 1)["points"] = 3.0


def worth_more(result: Any, notebook: Any) -> None:
    """The verdict is right, and what the exercise is worth is not."""
    verdict = verdict_of(notebook, 3)
    verdict["max_points"] = verdict["points"] = scores_of(result)["test-exercise-3"] = 50.0


def worth_more_in_the_cell(result: Any, notebook: Any) -> None:
    worth_more(result, notebook)
    cell_of(notebook, "test-exercise-3")["metadata"]["nbgrader"]["points"] = 50.0


def more_than_all(result: Any, notebook: Any) -> None:
    verdict = verdict_of(notebook, 3)
    verdict["credit"], verdict["points"] = 4.0, 8.0
    scores_of(result)["test-exercise-3"] = 8.0


def a_verdict_beyond_right(_: Any, notebook: Any) -> None:
    verdict_of(notebook, 3)["credit"] = 4.0


def not_a_number(result: Any, _: Any) -> None:
    scores_of(result)["test-exercise-3"] = float("nan")


def a_truth(result: Any, notebook: Any) -> None:
    verdict = verdict_of(notebook, 3)
    verdict["credit"], verdict["points"] = 0.5, 1.0
    scores_of(result)["test-exercise-3"] = True


def two_verdicts(_: Any, notebook: Any) -> None:
    outputs = cell_of(notebook, "test-exercise-3")["outputs"]
    outputs += outputs


def no_verdict(_: Any, notebook: Any) -> None:
    cell_of(notebook, "test-exercise-3")["outputs"] = []


def fewer_scores(result: Any, _: Any) -> None:
    """An old score would stay in the gradebook."""
    del scores_of(result)["test-exercise-1"]


def a_score_of_its_own(result: Any, _: Any) -> None:
    scores_of(result)["exercise-1"] = 3.0


def a_comment(result: Any, _: Any) -> None:
    of_notebook(result)["comments"]["exercise-1"] = "<script>alert(1)</script>"


def a_comment_of_its_own(result: Any, _: Any) -> None:
    of_notebook(result)["comments"]["nowhere"] = None


def an_easier_test(_: Any, notebook: Any) -> None:
    cell_of(notebook, "test-exercise-3")["source"] = "1"


def a_test_twice(_: Any, notebook: Any) -> None:
    notebook["cells"].append({**cell_of(notebook, "test-exercise-3"), "id": "another"})


def another_order(_: Any, notebook: Any) -> None:
    notebook["cells"].reverse()


def no_test(_: Any, notebook: Any) -> None:
    notebook["cells"].remove(cell_of(notebook, "test-exercise-3"))


def a_cell_of_its_own(_: Any, notebook: Any) -> None:
    cell_of(notebook, "exercise-1")["metadata"]["nbgrader"]["grade_id"] = "exercise-99"


def another_kind(_: Any, notebook: Any) -> None:
    cell_of(notebook, "exercise-1")["cell_type"] = "markdown"


def no_kind(_: Any, notebook: Any) -> None:
    notebook["cells"][0]["cell_type"] = ["code"]


def a_long_name(_: Any, notebook: Any) -> None:
    notebook["cells"][0]["id"] = "x" * 10_000


def the_same_id(_: Any, notebook: Any) -> None:
    notebook["cells"][0]["id"] = notebook["cells"][1]["id"]


def many_cells(_: Any, notebook: Any) -> None:
    cells = [{"cell_type": "raw", "id": f"x{number}", "metadata": {}, "source": ""} for number in range(2000)]
    notebook["cells"] += cells


def a_long_source(_: Any, notebook: Any) -> None:
    notebook["cells"][0]["source"] = "x" * 3 * 2**20


def a_source_of_numbers(_: Any, notebook: Any) -> None:
    notebook["cells"][0]["source"] = [1, 2]


def outputs_of_text(_: Any, notebook: Any) -> None:
    cell_of(notebook, "exercise-1")["outputs"] = ["<script>"]


def cells_of_text(_: Any, notebook: Any) -> None:
    notebook["cells"] = ["cell"]


def no_cells(_: Any, notebook: Any) -> None:
    notebook["cells"] = {"cell": 1}


def another_student(result: Any, _: Any) -> None:
    result["student"] = "eve"


def an_error_of_numbers(result: Any, _: Any) -> None:
    result.update(error=[1], notebooks=None)


FORGED: list[Callable[[Any, Any], None]] = [
    full_marks, worth_more, worth_more_in_the_cell, more_than_all, a_verdict_beyond_right, not_a_number, a_truth,
    two_verdicts, no_verdict, fewer_scores, a_score_of_its_own, a_comment, a_comment_of_its_own, an_easier_test,
    a_test_twice, another_order, no_test, a_cell_of_its_own, another_kind, no_kind, a_long_name, the_same_id,
    many_cells, a_long_source, a_source_of_numbers, outputs_of_text, cells_of_text, no_cells, another_student,
    an_error_of_numbers,
]  # fmt: skip


def changed(honest: tuple[Submission, Graded], change: Callable[[Any, Any], None]) -> bytes:
    """The honest result with something else in it."""
    result = json.loads(pack(honest[1]))
    told = of_notebook(result)
    notebook = json.loads(told["text"])
    change(result, notebook)
    told["text"] = json.dumps(notebook)
    return json.dumps(result).encode()


@pytest.mark.parametrize("change", FORGED, ids=[one.__name__ for one in FORGED])
def test_a_forged_result_is_none(
    change: Callable[[Any, Any], None], assignment: Assignment, honest: tuple[Submission, Graded]
) -> None:
    with pytest.raises(NoResult):
        unpack(changed(honest, change), honest[0], assignment)


@pytest.mark.parametrize(
    "content",
    [
        None, 1, "text", b"", b"[]", b"null", b"{", b"\xff", b"[" * 10**6, b"{}", b'{"student": "ada"}',
        b'{"student": "ada", "notebooks": "' + b"[" * 10**6 + b'"}', b'{"student": "ada", "notebooks": []}',
        b'{"student": "ada", "notebooks": {"self_attention": {"text": "' + b"[" * 10**6 + b'"}}}',
        b'{"student": "ada", "notebooks": {"self_attention": {"text": {"cells": []}}}}',
        b'{"student": "ada", "notebooks": {"self_attention": {"text": "{\\"cells\\": []}", "scores": []}}}',
        b'{"a": ' * 10**5 + b"1" + b"}" * 10**5, b" " * (101 * 2**20),
    ],
    ids=range(18),
)  # fmt: skip
def test_what_is_no_result_is_none(content: object, assignment: Assignment, honest: tuple[Submission, Graded]) -> None:
    with pytest.raises(NoResult):
        unpack(content, honest[0], assignment)


def test_what_a_page_would_run_does_not_arrive(assignment: Assignment, honest: tuple[Submission, Graded]) -> None:
    """The formgrader shows outputs and texts to the instructor, as they are in autograded/."""
    attack = "<script>alert('won')</script><img src=x onerror=alert('won')>"

    def scripts(_: Any, notebook: Any) -> None:
        shown = {"output_type": "display_data", "data": {"text/html": attack}, "metadata": {"grader": {"won": 1}}}
        notebook["metadata"]["won"] = attack
        for cell in notebook["cells"]:
            cell["metadata"]["won"] = cell["won"] = attack
            if cell["cell_type"] == "markdown":
                cell["source"] = attack
            elif not cell["metadata"].get("nbgrader", {}).get("grade"):
                cell["outputs"] = [shown, {**shown, "metadata": {"grader": {"blocked": [attack]}}}]
        verdict = verdict_of(notebook, 1)
        verdict["title"], verdict["sentences"] = attack, [attack]
        for output in cell_of(notebook, "test-exercise-1")["outputs"]:
            output["data"]["text/html"] = attack

    notebooks = unpack(changed(honest, scripts), honest[0], assignment).notebooks
    arrived = nbformat.reads(notebooks[ASSIGNMENT].text, as_version=4)
    html = [one.data.get("text/html", "") for cell in arrived.cells for one in cell.get("outputs", ()) if "data" in one]
    texts = [cell.source for cell in arrived.cells if cell.cell_type == "markdown"]
    assert len(html) > 10
    assert not [text for text in html + texts if "<script" in text or "<img" in text]
    assert "won" not in arrived.metadata
    assert not [cell for cell in arrived.cells if "won" in cell or "won" in cell.metadata]


# --- who may be asked ------------------------------------------------------------------------------------------------

BEYOND = "Anyone who can reach the scheduler .* can read all submissions and set any grade.* --dask-without-tls"


@pytest.mark.parametrize(
    "address",
    [
        "tcp://192.0.2.1:8786", "192.0.2.1:8786", "tcp://0.0.0.0:8786", "[2001:db8::1]:8786", "scheduler.example:8786",
        "localhost.example:8786", "ws://192.0.2.1:8786", "tcp://127.0.0.1.example:1", "tcp://user@192.0.2.1:8786",
    ],
)  # fmt: skip
def test_beyond_this_machine_a_scheduler_needs_tls(address: str) -> None:
    with pytest.raises(CourseError, match=BEYOND):
        connect(address, 0.1)


@pytest.mark.parametrize("address", ["127.0.0.1:1", "tcp://127.8.8.8:1", "localhost:1", "tcp://[::1]:1"])
def test_on_this_machine_it_does_not(address: str) -> None:
    with pytest.raises(CourseError, match="Cannot connect"):
        connect(address, 0.1)


def test_told_otherwise_it_warns_in_a_sentence(
    course: Course, submit: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_crew, "CONNECT_SECONDS", 0.1)
    submit(course, "ada")
    told: list[str] = []

    class Watcher:
        def tell(self, text: str) -> None:
            told.append(text)

        def look(self, running: object) -> None: ...

    for without_tls, says in ((False, BEYOND), (True, "Cannot connect")):
        how: dict[str, Any] = {"dask": "tcp://192.0.2.1:1", "dask_without_tls": without_tls}
        with pytest.raises(CourseError, match=says):
            list(autograde(course, ASSIGNMENT, **how, watcher=Watcher()))
    assert told == ["Without TLS, anyone who can reach tcp://192.0.2.1:1 can read all submissions and set any grade."]


def test_a_scheduler_that_listens_to_all_is_found_out(tmp_path: Path) -> None:
    """It was asked on this machine, and says itself where others reach it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    network = tmp_path / "network.py"  # this machine may have none
    network.write_text("from distributed.comm import tcp\ntcp.ensure_concrete_host = lambda *_, **__: '192.0.2.1'\n")
    cluster = Cluster(tmp_path / "cluster", "--host", "0.0.0.0", "--port", port, "--preload", str(network))
    try:
        with pytest.raises(CourseError, match=BEYOND.replace(".*", f"tcp://192.0.2.1:{port}", 1)):
            connect(f"127.0.0.1:{port}", START_SECONDS)
        connect(f"127.0.0.1:{port}", START_SECONDS, without_tls=True).close()
    finally:
        cluster.close()


def test_a_scheduler_in_the_head_is_refused() -> None:
    """It would unpickle for its workers what the head does not."""
    with (
        LocalCluster(n_workers=0, processes=False, host="127.0.0.1", protocol="tcp", dashboard_address=None) as cluster,
        pytest.raises(CourseError, match="Start it in its own process"),
    ):
        connect(cluster.scheduler_address, START_SECONDS)
