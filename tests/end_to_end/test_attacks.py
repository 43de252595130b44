"""The attacks in data/attacks: none gains a point, harms a neighbor, touches what lies outside or reads a secret.

All attackers form one class, which is graded once. After each of them, an honest submission is graded by the same
warm process. The second half shows that attacks succeed when the protection that stops them is switched off.
"""

from __future__ import annotations

import json
import os
import re
import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import nbformat
import pytest
import torch
from nbgrader.api import MissingEntry
from outside import WON, Outside, changes, descendants

from class_bench import nbgrader_alone
from grader.classroom.run import autograde
from grader.course.folder import Course
from grader.host import machine, zygote_process
from grader.host.grading import grade_notebook
from grader.host.limits import Limits
from grader.host.notebook_settings import Settings
from grader.host.scratch import files_beside
from grader.model.compare import Difference, Kind
from grader.model.submission import Files, Graded
from grader.model.verdict import Verdict
from support.graded_corpus import a_few_seeds
from support.our_course import EXERCISES, OURS
from support.places import DATA

# In CI as an ordinary user. The tests of confinement try what root can do more, and so does `make proof`, run as root.
pytestmark = [pytest.mark.user, pytest.mark.slow]

ASSIGNMENT = "self_attention"
FOLDER = DATA / "attacks"
KINDS = ("forging", "reading", "escaping", "exhausting", "corrupting")
POINTS = {f"test-exercise-{number}": points for number, points in enumerate((3, 3, 2, 2, 3, 4, 5, 8), start=1)}
NEIGHBOR = 1  # the exercise of the neighbor: the one that most attackers have in hand
HONEST = ("alice", "nora", "zoe")  # before, among and after the attackers

# Short, so that attacks that hang are over soon, and small, so that those that fill memory stay harmless. All others
# have time enough for a machine that does something else as well: what becomes of them must not hang on the clock.
SHORT = Limits(cell=0.5, case=0.25, submission=1.25, memory=2**30, patience=40)
LONG = Limits(cell=30.0, case=20.0, submission=120.0, memory=2**30)
IMPATIENT = Limits(cell=2.0, case=1.0, submission=30.0, memory=2**30, patience=2)
# Time enough to answer beside threads that compute to the very end. With LONG, that is two minutes of all processors.
UNCEASING = replace(LONG, submission=10.0)
ENDED_BY_TIME = ("Is there an endless loop?", "The notebook took too long in total", "Your code")
COMPUTES_TO_THE_END = "exhausting/busy_threads"
ENDED_BY_THE_CLOCK = "wait for something that never comes"

# What only the trusted side knows. No attack spells these out.
INSIDE_KNOWLEDGE = ("Misconception(", "catches=", "BEGIN SOLUTION", "def judge(", "randn(rng")
# Of the seed that everybody can read. Each submission has a seed of its own.
HIDDEN_NUMBERS = [f"{float(case.inputs[1][0, 0]):.4f}" for case in EXERCISES[1].sample()]

_HEAD = re.compile(
    r'"""(?P<hope>[^\n]+)"""\n# Gets: (?P<gets>[^\n]+)\n'
    r"(?:# Or, watched: (?P<watched>[^\n]+)\n)?(?:# Solves: (?P<solves>[\d ]+)\n)?"
)
_PART = re.compile(r"^# %% (\S+)\n", re.MULTILINE)
_NUMBER = re.compile(r"exercise-(\d+)")


@dataclass(frozen=True)
class Attack:
    """One file of tests/data/attacks."""

    name: str
    hope: str
    gets: str
    watched: str | None  # what it gets where a sandbox has no disk of its own, if it may be something else
    solves: frozenset[int]
    text: str

    @property
    def student(self) -> str:
        return self.name.replace("/", "-")

    @property
    def parts(self) -> dict[str, str]:
        """Sources by the grade id of their cell, or by the name of their file."""
        first, *rest = _PART.split(self.text)
        return {"exercise-1": first, **dict(zip(rest[::2], rest[1::2], strict=True))}

    def submit(self, course: Course, make_notebook: Any, solved: dict[int, str], world: str) -> Path:
        """Hand in, and return the path of the notebook."""
        path = course.notebook(f"submitted/{self.student}", ASSIGNMENT)
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / "world.py").write_text(world)
        answers = {number: solved[number] for number in self.solves}
        changed = "def attack(" in self.text
        for name, source in {} if changed else self.parts.items():
            if number := _NUMBER.fullmatch(name):
                answers[int(number[1])] = source
            else:
                beside = path.parent / name
                beside.parent.mkdir(parents=True, exist_ok=True)
                beside.write_text(source)
        notebook = json.loads(json.dumps(make_notebook(course, answers)))
        replaced = self._change(notebook, path.parent, world) if changed else None
        if not path.is_symlink():
            path.write_text(json.dumps(notebook) if replaced is None else replaced)
        return path

    def _change(self, notebook: dict[str, Any], folder: Path, world: str) -> str | None:
        """Call the attack; what it returns is handed in as the notebook's file."""
        namespace: dict[str, Any] = {}
        exec(world, namespace)
        exec(compile(self.text, self.name, "exec"), namespace)
        cells = {cell["metadata"]["nbgrader"]["grade_id"]: cell for cell in notebook["cells"]}
        result: str | None = namespace["attack"](notebook, cells, folder)
        return result

    @property
    def limits(self) -> Limits:
        if self.gets == ENDED_BY_THE_CLOCK:
            return IMPATIENT
        if self.name == COMPUTES_TO_THE_END:
            return UNCEASING
        return SHORT if self.gets in ENDED_BY_TIME else LONG

    @property
    def earned(self) -> dict[str, float]:
        return {name: points if int(name.rsplit("-", 1)[1]) in self.solves else 0.0 for name, points in POINTS.items()}


def read(path: Path) -> Attack:
    text = path.read_text()
    head = _HEAD.match(text)
    assert head, f"{path} does not begin as tests/data/attacks/README.md says"
    solves = frozenset(map(int, (head["solves"] or "").split()))
    name = path.relative_to(FOLDER).with_suffix("").as_posix()
    return Attack(name, head["hope"], head["gets"], head["watched"], solves, text)


ATTACKS = {attack.name: attack for attack in map(read, sorted(FOLDER.glob("*/*.py")))}


@dataclass(frozen=True)
class Outcome:
    """What came of an attack."""

    result: Graded
    shown: str  # all outputs and notes of the graded notebook
    changed: list[str]  # what is no longer as it was outside
    neighbor: float  # credit of the honest submission that was graded next, from 0 to 1
    same_zygote: bool


@dataclass
class Class:
    course: Course
    outside: Outside
    outcomes: dict[str, Outcome] = field(default_factory=dict)  # by student
    scores: dict[str, dict[str, float | None]] = field(default_factory=dict)


@pytest.fixture(scope="module")
def outside_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Course], Outside]]:
    """Makes canaries around a course: secrets in the environment, and scratch folders where we can count them."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    made: list[Outside] = []
    with pytest.MonkeyPatch.context() as patch:

        def make(course: Course) -> Outside:
            made.append(Outside(tmp_path_factory.mktemp("outside"), course))
            patch.setenv("SECRET_TOKEN", made[-1].secret)
            patch.setattr(tempfile, "tempdir", str(made[-1].scratch))
            zygote_process.close_zygote()  # the next one is started with the secret in our environment
            return made[-1]

        yield make
        zygote_process.close_zygote()
    for outside in made:
        outside.close()
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def has_disk() -> bool:
    """Whether a sandbox has a disk of its own here; in a container, its folder is watched."""
    return not machine.why_no_disk()


@pytest.fixture(scope="module")
def attacked_class(new_course: Any, make_notebook: Any, submit: Any, solved: dict[int, str], outside_of: Any) -> Class:
    """All attackers among three honest students, graded one after another, each followed by a neighbor."""
    course = new_course()
    graded = Class(course, outside_of(course))
    for student in HONEST:
        submit(course, student, {**solved, 1: f"# {graded.outside.secret}\n{solved[1]}"})
    for attack in ATTACKS.values():
        attack.submit(course, make_notebook, solved, graded.outside.world())
    attackers = [attack.student for attack in ATTACKS.values()]
    half = len(attackers) // 2
    students = [HONEST[0], *attackers[:half], HONEST[1], *attackers[half:], HONEST[2]]
    with pytest.MonkeyPatch.context() as patch, a_few_seeds():
        patch.setattr("grader.classroom.run.BATCH", 1)
        patch.setattr("grader.gradebook.preprocessors.grade_notebook", graded_within_its_limits)
        # Whoever is refused when it is read may come first: what grading itself makes is there before.
        assert [result.error for result in autograde(course, ASSIGNMENT, HONEST[:1])] == [""]
        carry_out(graded, students, make_notebook(course, {NEIGHBOR: solved[NEIGHBOR]}))
    with course.api().gradebook as gradebook:
        for student in students:
            graded.scores[student] = scores_of(gradebook, student)
    return graded


def graded_within_its_limits(notebook: Any, files: Files, settings: Settings, demos: frozenset[str]) -> list[Verdict]:
    attack = next((one for one in ATTACKS.values() if one.student == settings.student), None)
    limits = attack.limits if attack else settings.limits
    return grade_notebook(notebook, files, replace(settings, limits=limits), demos)


def carry_out(graded: Class, students: Sequence[str], neighbor: Any) -> None:
    """Each result is looked at when it is written down. Then only is the next submission read."""
    neighbor.cells = [cell for cell in neighbor.cells if cell.metadata.nbgrader.grade_id.endswith(f"-{NEIGHBOR}")]
    beside = files_beside(graded.course.notebook("release", ASSIGNMENT).parent)
    before, zygote = graded.outside.state(), zygote_process.zygote_pid()
    refused: list[Graded] = []
    for result in autograde(graded.course, ASSIGNMENT, students):
        if result.error:  # it was refused when it was read; what that did shows with the one that is graded next
            refused.append(result)
            continue
        after = graded.outside.state()
        (verdict,) = grade_notebook(neighbor, beside, OURS)
        changed = changes(before, after, result.student)
        same_zygote = zygote_process.zygote_pid() == zygote
        for one in (*refused, result):
            text = shown(graded.course, one)
            graded.outcomes[one.student] = Outcome(one, text, changed, verdict.credit, same_zygote)
        refused, before, zygote = [], after, zygote_process.zygote_pid()


def scores_of(gradebook: Any, student: str) -> dict[str, float | None]:
    try:
        notebook = gradebook.find_submission_notebook(ASSIGNMENT, ASSIGNMENT, student)
    except MissingEntry:
        return {}
    return {grade.cell.name: grade.auto_score for grade in notebook.grades}


def shown(course: Course, result: Graded) -> str:
    """Everything in the graded notebook that the attacker did not write as a source."""
    if result.error:
        return result.error
    return outputs_of(course.read(f"autograded/{result.student}", ASSIGNMENT))


def outputs_of(notebook: Any) -> str:
    outputs = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    notes = [cell.source for cell in notebook.cells[:1] if cell.cell_type == "markdown"]
    return json.dumps([*outputs, *notes], ensure_ascii=False)


def secrets_in(text: str, outside: Outside) -> list[str]:
    secrets = [secret for secret in (outside.secret, *INSIDE_KNOWLEDGE) if secret in text]
    return secrets + (["hidden inputs"] if all(number in text for number in HIDDEN_NUMBERS) else [])


def test_attacks_of_every_kind_exist() -> None:
    assert len(ATTACKS) >= 60
    assert {kind: sum(name.startswith(kind) for name in ATTACKS) >= 10 for kind in KINDS} == dict.fromkeys(KINDS, True)


@pytest.mark.parametrize("name", ATTACKS)
def test_attack_earns_no_unearned_point(attacked_class: Class, name: str) -> None:
    attack = ATTACKS[name]
    result = attacked_class.outcomes[attack.student].result
    refused = bool(result.error)  # as a whole: then the error is what the attacker gets
    assert not refused or attack.gets in result.error
    assert attacked_class.scores[attack.student] == ({} if refused else attack.earned)
    assert result.points == (0 if refused else sum(attack.earned.values()))


@pytest.mark.parametrize("name", ATTACKS)
def test_honest_neighbor_of_an_attack_gets_full_marks(attacked_class: Class, name: str) -> None:
    outcome = attacked_class.outcomes[ATTACKS[name].student]
    assert outcome.neighbor == 1.0
    assert outcome.same_zygote


@pytest.mark.parametrize("student", HONEST)
def test_honest_students_of_attacked_class_get_full_marks(attacked_class: Class, student: str) -> None:
    assert attacked_class.scores[student] == POINTS


@pytest.mark.parametrize("name", ATTACKS)
def test_attack_touches_nothing_outside(attacked_class: Class, name: str) -> None:
    assert attacked_class.outcomes[ATTACKS[name].student].changed == []


@pytest.mark.parametrize("name", ATTACKS)
def test_attack_reads_no_secret(attacked_class: Class, name: str) -> None:
    assert secrets_in(attacked_class.outcomes[ATTACKS[name].student].shown, attacked_class.outside) == []


@pytest.mark.parametrize("name", ATTACKS)
def test_attack_gets_what_its_file_says(attacked_class: Class, name: str, has_disk: bool) -> None:
    """So the attack was carried out and stopped, and did not fail for a reason of its own."""
    attack = ATTACKS[name]
    seen = attacked_class.outcomes[attack.student].shown
    assert attack.gets in seen or (not has_disk and attack.watched is not None and attack.watched in seen)
    assert WON not in seen


# The other half of the proof: with one protection switched off, the attack that it stops succeeds.


@dataclass(frozen=True)
class SwitchedOff:
    """One protection switched off, and the attacks that then succeed, with the sign of their success."""

    protection: str
    attacks: dict[str, str]  # attack: points, won, secret or canary
    zygote: str = ""  # a statement that the warm process runs before anything else
    patch: tuple[str, Any] | None = None  # a name of the trusted side and what is put in its place
    settings: Settings = replace(OURS, limits=LONG)  # noqa: RUF009  it is frozen


def compared_naively(got: Any, want: Any, tolerance: float, strict: bool = False) -> Difference | None:  # noqa: ARG001
    """Compares as most people would at first: no number is off by more than the tolerance."""
    if isinstance(want, torch.Tensor):
        far = bool(((got - want).abs() > tolerance).any())
    else:
        far = any(compared_naively(*pair, tolerance) for pair in zip(got, want, strict=False))
    return Difference(Kind.VALUE) if far else None


def without(*steps: str) -> str:
    """For the warm process: these steps of confinement left out."""
    return "; ".join(
        ["from grader.sandbox import confine", *(f"confine.{step} = lambda *args: None" for step in steps)]
    )


SWITCHED_OFF = [
    SwitchedOff(
        "Landlock",
        {
            "reading/references": "secret",
            "reading/gradebook": "won",
            "reading/instructor_notebook": "secret",
            "reading/canary": "secret",
            "reading/other_scratch_folders": "won",
            "escaping/write_outside": "canary",
        },
        zygote=without("_limit_files"),
    ),
    SwitchedOff(
        "seccomp",
        {
            "escaping/tcp": "canary",
            "escaping/unix_socket": "canary",
            "escaping/fork": "canary",
            "escaping/kill_a_bystander": "canary",
            "escaping/signal_by_the_kernel": "canary",
            "escaping/slow_down_a_bystander": "canary",
            "escaping/attributes_outside": "canary",
            "exhausting/memory_in_files": "won",
        },
        zygote=without("_limit_calls"),
    ),
    SwitchedOff(
        "rlimits",
        {"exhausting/sparse_file": "won", "exhausting/memory_at_once": "won"},
        zygote=without("_limit_amounts", "_limit_memory"),
    ),
    SwitchedOff(
        "all of confinement",
        {"escaping/other_programs": "canary", "reading/memory_by_system_call": "won"},
        settings=replace(OURS, confined=False, limits=LONG),
    ),
    SwitchedOff(
        "the emptied environment",
        {"reading/environment": "secret"},
        patch=("grader.host.sandbox_process.inherited", lambda: os.environ),
    ),
    SwitchedOff(
        "the limit on the time of a cell",
        {"exhausting/ends_in_time": "won"},
        settings=replace(OURS, limits=Limits(cell=60, submission=60)),
    ),
    SwitchedOff(
        "the careful comparison",
        {"forging/nan_everywhere": "points", "forging/empty_lists": "points"},
        patch=("grader.model.forms.function.difference", compared_naively),
    ),
]


SUCCEEDING = {f"{off.protection}-{name}": (off, name) for off in SWITCHED_OFF for name in off.attacks}


@pytest.fixture(scope="module")
def switched_off(request: pytest.FixtureRequest) -> Iterator[SwitchedOff]:
    off: SwitchedOff = request.param
    with pytest.MonkeyPatch.context() as patch:
        if off.patch:
            patch.setattr(*off.patch)
        if off.zygote:
            before = "sys.path.remove("
            program = zygote_process.PROGRAM.replace(before, f"{off.zygote}\n{before}", 1)
            patch.setattr(zygote_process, "PROGRAM", program)
            zygote_process.close_zygote()
        # The warm process runs before we look at what is there, or it would be taken for what an attack has left.
        grade_notebook(nbformat.v4.new_notebook(), settings=off.settings)
        yield off
    if off.zygote:
        zygote_process.close_zygote()


@pytest.mark.parametrize(
    ("switched_off", "name"),
    [pytest.param(*one, id=name) for name, one in SUCCEEDING.items()],
    indirect=["switched_off"],
    scope="module",
)
def test_attack_without_its_protection_succeeds(
    switched_off: SwitchedOff,
    name: str,
    course: Course,
    make_notebook: Any,
    solved: dict[int, str],
    submit: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outside = Outside(tmp_path, course)
    monkeypatch.setenv("SECRET_TOKEN", outside.secret)
    monkeypatch.setattr(tempfile, "tempdir", str(outside.scratch))
    submit(course, "alice", solved)
    path = ATTACKS[name].submit(course, make_notebook, solved, outside.world())
    notebook = nbformat.read(path, as_version=4)
    before = outside.state()
    try:
        verdicts = grade_notebook(notebook, files_beside(path.parent), switched_off.settings)
        touched = changes(before, outside.state())
        signs = {
            "points": any(verdict.credit for verdict in verdicts),
            "won": WON in outputs_of(notebook),
            "secret": secrets_in(outputs_of(notebook), outside),
            "canary": touched,
        }
        assert signs[switched_off.attacks[name]], outputs_of(notebook)
    finally:
        end_processes_other_than(before)
        outside.close()


def end_processes_other_than(before: dict[str, Any]) -> None:
    """What got out of a sandbox without protection has become our child."""
    for pid in descendants(os.getpid()):
        if f"process {pid}" not in before and pid != zygote_process.zygote_pid():
            os.kill(pid, signal.SIGKILL)


STOCK = """
c.Autograde.exporter_class = "nbconvert.exporters.NotebookExporter"
c.Autograde.sanitize_preprocessors = [
    "nbgrader.preprocessors.OverwriteKernelspec",
    "nbgrader.preprocessors.OverwriteCells",
    "nbgrader.preprocessors.CheckCellMetadata",
]
c.Autograde.autograde_preprocessors = [
    "nbgrader.preprocessors.Execute",
    "nbgrader.preprocessors.SaveAutoGrades",
    "nbgrader.preprocessors.CheckCellMetadata",
]
"""
# Attacks on nbgrader's own way to grade, which runs test cells in the student's process, and what they earn there.
STOCK_EARNS = {"forging/redefine_check": 30, "forging/shell_hooks": 30, "corrupting/filled_and_skipped": 30}


def test_attacks_when_test_cells_run_in_students_process_succeed(
    course: Course, make_notebook: Any, solved: dict[int, str], tmp_path: Path
) -> None:
    settings = course.root / "nbgrader_config.py"
    settings.write_text(settings.read_text() + STOCK)
    outside = Outside(tmp_path, course)
    for name in STOCK_EARNS:
        ATTACKS[name].submit(course, make_notebook, solved, outside.world())
        nbgrader_alone(course).autograde(ASSIGNMENT, ATTACKS[name].student)
    outside.close()
    with course.api().gradebook as gradebook:
        earned = {name: sum(filter(None, scores_of(gradebook, ATTACKS[name].student).values())) for name in STOCK_EARNS}
    assert earned == STOCK_EARNS
