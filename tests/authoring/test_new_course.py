"""`grader new`: the smallest course, assignment and exercise that work, from the first command to a grade."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest

from grader.authoring.beginnings import new_assignment, new_course, new_exercise
from grader.checks.corpus_checks import Corpus
from grader.checks.sound_cases import must_be_releasable, must_be_sound
from grader.checks.table import Finding
from grader.checks.validate import validate
from grader.checks.visible_checks import Noticed, noticed_by_visible_checks
from grader.classroom.progress import count_misconceptions
from grader.classroom.run import autograde
from grader.course.folder import Course
from grader.errors import CourseError
from grader.gradebook.published import points_to_publish
from grader.gradebook.standings import read_class
from grader.model.label import Label
from grader.notebooks.cells import fill_in
from grader.pages.class_summary import summary
from grader.pages.feedback import write_feedback
from grader.pages.report import write_report
from grader.release.compiling import compile_release
from grader.solutions.lines import Lines
from support.command_line import grader
from support.snapshots import files_in

RIGHT = "def {0}(numbers):\n    return sum(numbers) / len(numbers)\n"
SUM = "def {0}(numbers):\n    return sum(numbers)\n"


@pytest.fixture(scope="module")
def course_of_two_exercises(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A course with an assignment of two exercises. Nobody writes into it."""
    root = tmp_path_factory.mktemp("new") / "statistics"
    new_course(root)
    course = Course(root)
    new_assignment(course, "week1")
    new_exercise(course, "the-mean", "week1")
    new_exercise(course, "2", "week1")
    return Course(root)


@pytest.fixture
def course(course_of_two_exercises: Course, tmp_path: Path) -> Iterator[Course]:
    import shutil

    shutil.copytree(course_of_two_exercises.root, tmp_path / "statistics")
    with contextlib.chdir(tmp_path / "statistics"):
        yield Course(Path())


def failed_findings(course: Course) -> list[str]:
    return [finding.text for finding in validate(course, "week1") if not finding.ok]


@pytest.mark.slow
def test_new_course_validates_at_once(course_of_two_exercises: Course) -> None:
    findings = list(validate(course_of_two_exercises, "week1"))
    assert [finding.text for finding in findings if not finding.ok] == []
    assert Finding("code in corpus/ is judged as it says", count=4) in findings


@pytest.mark.slow
def test_new_course_is_released_graded_and_names_mistakes(course: Course) -> None:
    compile_release(course, "week1")
    assert "sum(numbers) / len" not in course.notebook("release", "week1").read_text()
    notebook = fill_in(
        course.read("release", "week1"), {"the-mean": RIGHT.format("the_mean"), 2: SUM.format("exercise_2")}
    )
    path = course.notebook("submitted/ada", "week1")
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)
    (ada,) = autograde(course, "week1")
    assert [(scored.verdict.exercise, scored.points) for scored in ada.verdicts] == [("the-mean", 2.0), (2, 1.0)]
    assert ada.verdicts[1].verdict.misconceptions == ("not divided",)
    assert failed_findings(course) == []
    (page,) = (path.read_text() for path in write_feedback(course, "week1"))
    assert "run the test cell below it again" in page  # there is no check(2) here, and nothing unfolds
    assert "hint" not in page
    assert "not divided" in write_report(course, "week1")[0].read_text()


@pytest.mark.slow
def test_exercises_follow_the_order_of_the_notebook_everywhere(course: Course) -> None:
    """By their labels, 2 would come before the-mean."""
    compile_release(course, "week1")
    answers: dict[Label, str] = {"the-mean": SUM.format("the_mean"), 2: SUM.format("exercise_2")}
    path = course.notebook("submitted/ada", "week1")
    path.parent.mkdir(parents=True)
    nbformat.write(fill_in(course.read("release", "week1"), answers), path)
    results = list(autograde(course, "week1"))
    assert list(course.exercises("week1")) == ["the-mean", 2]
    assert list(count_misconceptions(results, None)) == ["the-mean", 2]
    assert list(points_to_publish(course, "week1")[0]["ada"].points) == ["the-mean", "2"]
    told = summary(read_class(course, "week1"))
    assert [line.exercise for line in told.exercises] == ["the-mean", "2"]
    assert [line.exercise for line in told.mistakes] == ["the-mean", 2]
    assert list(told.students[0].exercises) == ["the-mean", "2"]
    assert "exercise the-mean,exercise 2," in write_report(course, "week1")[1].read_text()


def test_new_command_prints_files_and_the_next_step(tmp_path: Path) -> None:
    said = grader("new", "course", "statistics", folder=tmp_path).stdout
    assert "statistics/nbgrader_config.py" in said
    assert "cd statistics && grader new assignment week1" in said
    root = tmp_path / "statistics"
    assert "source/week1/week1.ipynb" in grader("new", "assignment", "week1", folder=root).stdout
    said = grader("new", "exercise", "mean", "--assignment", "week1", folder=root).stdout
    for place in (
        "exercises/week1_mean.py",
        "corpus/week1/mean.txt",
    ):
        assert place in said
        assert (root / place).is_file()


@pytest.mark.slow
def test_validate_finds_false_claims_of_the_corpus(course: Course) -> None:
    folder = course.root / "corpus/week1"
    two, mean = folder / "2.txt", folder / "the-mean.txt"
    two.write_text(
        f"{two.read_text()}\n=== right sum: a sum\n{SUM.format('exercise_2')}\n\n"
        f"=== wrong mean: no sum\n{RIGHT.format('exercise_2')}\n"
    )
    mean.write_text(mean.read_text().replace(":named: not divided", ":named: one too few"))
    (folder / "3.txt").write_text("=== right loop: no exercise\npass\n")
    (folder / "4/right").mkdir(parents=True)
    said = "\n".join(failed_findings(course))
    assert "corpus/week1/2.txt, sum: it should be right, but the verdict is" in said
    assert "corpus/week1/2.txt, mean: it should be wrong, but earns full marks" in said
    assert "corpus/week1/3.txt: there is no such exercise" in said
    assert "corpus/week1/4: is a folder. Put all code for an exercise into one file, corpus/week1/4.txt" in said
    assert "corpus/week1/the-mean.txt, not_divided: `one too few` should be named, but not divided is" in said


def findings_after_change(course: Course, *replaced: tuple[str, str], until: str = "to something else") -> list[str]:
    """What is told of exercise 2 once its file is changed; if nothing else is said, before anything is graded."""
    path = course.root / "exercises/week1_2.py"
    for old, new in replaced:
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))
    said = []
    for finding in validate(course, "week1"):
        said += [] if finding.ok else [finding.text]
        if until in finding.checked:
            break
    return said


FIVE = "lambda rng: (randn(rng, 5).tolist(),)"
IN_NO_ORDER = "lambda rng: ([float(len(word)) for word in {'x' * size for size in range(12)}],)"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("inputs", "line", "told"),
    [
        ("lambda rng: (randn(rng, 5).to_list(),)", 16, "cannot be drawn, for AttributeError: 'Tensor' object has no"),
        ("lambda rng: (randn(Generator(), 5).tolist(),)", 16, "cannot be drawn, for NameError: name 'Generator'"),
        ("lambda rng: (__import__('torch').rand(5).tolist(),)", 16, "the same seed gives different inputs each time"),
        (IN_NO_ORDER, 16, "the same seed gives different inputs each time"),
    ],
)
def test_unsound_inputs_stop_release_autograde_and_validate(inputs: str, line: int, told: str, course: Course) -> None:
    """In four runs, the same hand-in once had 4, 4, 4 and 6 points."""
    path = course.root / "exercises/week1_2.py"
    assert path.read_text().splitlines()[line - 1].count(FIVE) == 1
    path.write_text(path.read_text().replace(FIVE, inputs))
    place = f"(exercises/week1_2.py, line {line})"
    with pytest.raises(CourseError) as released:
        must_be_releasable(course, "week1")
    with pytest.raises(CourseError) as graded:
        must_be_sound(course, "week1", {})
    validated = next(finding for finding in validate(course, "week1") if not finding.ok).text
    for said, begins in (
        (
            str(released.value),
            "Nothing was released: hidden cases must have inputs, and the same ones each time. exercise 2",
        ),
        (
            str(graded.value),
            "Nothing was graded: hidden cases must have inputs, and the same ones each time. exercise 2",
        ),
        (validated, "exercise 2, `exercise_2`, “five numbers”: "),
    ):
        assert said.startswith(begins)
        assert told in said
        assert place in said


def test_release_when_an_exercise_raises_names_its_line(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever code of an exercise file stops, its place is told."""
    path = course.root / "exercises/week1_2.py"
    path.write_text(path.read_text().replace("    return sum", "    1 / 0\n    return sum"))
    reference = course.exercises("week1")[2].reference
    monkeypatch.setattr("grader.checks.sound_cases.must_be_releasable", lambda *_: reference([1.0]))
    ended = grader("release", "week1", folder=course.root)
    assert ended.stderr == (
        "Cannot use an exercise: ZeroDivisionError: division by zero (exercises/week1_2.py, line 7). "
        "Fix that, then run this again.\n"
    )
    assert ended.returncode == 1


@pytest.mark.slow
def test_validate_when_solution_fails_its_exercise_shows_the_verdict(course: Course) -> None:
    notebook = course.read("source", "week1")
    cells = {cell.id: cell for cell in notebook.cells}
    cells["exercise-2"].source = cells["exercise-2"].source.replace("def exercise_2(numbers)", "def exercise2(numbers)")
    cells["test-exercise-2"].source = cells["test-exercise-2"].source.replace("assert exercise_2", "exercise2")
    nbformat.write(notebook, course.notebook("source", "week1"))
    said = failed_findings(course)
    assert any(
        text.startswith("the solved source scores 2 of 4. exercise 2: There is no function called exercise_2.")
        and text.endswith("Fix the solution or the reference.")
        for text in said
    ), said


def test_corpus_when_file_is_no_utf8_says_so(course: Course) -> None:
    (course.root / "corpus/week1/2.txt").write_bytes(b"=== right: \xe4")
    (problem,) = Corpus(course, "week1").unreadable
    assert str(problem) == "exercise 2, corpus/week1/2.txt: it is not UTF-8 text. Save it as UTF-8."


@pytest.mark.slow
def test_corpus_when_named_mistake_is_unknown_says_so(course: Course) -> None:
    path = course.root / "corpus/week1/2.txt"
    path.write_text(path.read_text().replace(":named: not divided", ":named: not divide"))
    (problem,) = Corpus(course, "week1").problems(course, course.exercises("week1"))
    told = "`not divide` should be named, but not divided is; the exercise has no mistake “not divide”."
    assert told in str(problem)


@pytest.mark.parametrize("line", [":Named: one too few", "# named: not divided", ": named: not divided", "named: sum"])
def test_corpus_when_field_is_malformed_says_so(course: Course, line: str) -> None:
    path = course.root / "corpus/week1/2.txt"
    path.write_text(path.read_text().replace(":named: not divided", line))
    (problem,) = Corpus(course, "week1").unreadable
    assert "a field must look like `:named: …`, in lower case, directly below the heading" in str(problem)


MEAN = "sum(numbers) / len(numbers)"


def test_validate_when_reference_loses_marks_says_so(course: Course) -> None:
    counted = ("def exercise_2(", "CALLS = iter(range(9999))\n\n\ndef exercise_2(")
    *_, said = findings_after_change(course, counted, (MEAN, f"{MEAN} + next(CALLS)"), until="references")
    assert said.startswith("exercise 2, `exercise_2`: the reference does not earn full marks. Its verdict: ")


def test_validate_when_reference_raises_names_the_cases(course: Course) -> None:
    other, one, two = findings_after_change(
        course, ("    return sum", "    raise ValueError('nothing')\n    return sum"), until="the very end"
    )
    assert "the exercise file has `raise ValueError('nothing')`" in other
    assert "“five numbers”: the reference stops with ValueError: nothing" in one
    assert "“eight numbers”: the reference stops with ValueError: nothing" in two


def test_validate_when_misconception_earns_another_credit_says_so(course: Course) -> None:
    """What comes out is always zero, for which nothing is earned."""
    (said,) = findings_after_change(course, ('"return sum(numbers)"', '"return sum(numbers) * 0.0"'))
    assert "“not divided”: it should be named and earn 0.5, but not divided is named, and it earns 0." in said


def test_validate_when_lines_differ_as_a_whole_says_so(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    """Grading holds a solution statement by statement, and a student's code runs as a whole."""
    monkeypatch.setattr(Lines, "version", lambda *_: lambda numbers: sum(numbers) + 1)
    said = findings_after_change(course)
    assert len(said) == 4
    assert all("nothing is named, and it earns 0." in text for text in said), said


def test_validate_when_a_misconception_hides_another_says_so(course: Course) -> None:
    said = findings_after_change(course, ('"return sum(numbers)"', '"return sum(numbers) / (len(numbers) - 1.0)"'))
    assert any("“one too few”: it should be named and earn 0.5, but not divided is named" in text for text in said), (
        said
    )


def test_validate_when_a_trivial_program_is_right_says_so(course: Course) -> None:
    zeros = [(f"randn(rng, {count}).tolist()", f"[0.0] * {count}") for count in (5, 8)]
    said = findings_after_change(course, *zeros)
    assert any("a program that just" in text for text in said), said


@pytest.mark.slow
def test_validate_when_release_is_stale_and_solution_wrong_says_so(course: Course) -> None:
    compile_release(course, "week1")
    (course.root / "release/week1/more.txt").write_text("")
    path = course.notebook("source", "week1")
    wrong_solution = f"### BEGIN SOLUTION\n{SUM.format('exercise_2')}### END SOLUTION"
    nbformat.write(fill_in(nbformat.read(path, 4), {2: wrong_solution}), path)
    other, stale, score = failed_findings(course)
    assert "the solution cell has `return sum(numbers)` where the exercise file has `return sum(numbers) /" in other
    assert stale == "release/ is out of date: more.txt, week1.ipynb. Run: grader release week1"
    assert score.startswith("the solved source scores 3 of 4. exercise 2: What comes out is the sum. The mean is")


@pytest.mark.slow
def test_validate_notes_what_a_visible_check_misses(course: Course) -> None:
    """And nothing is wrong with the course for it."""
    checked = "visible checks catch all misconceptions"
    assert Finding(checked) in list(validate(course, "week1"))
    path = course.notebook("source", "week1")
    notebook = nbformat.read(path, 4)
    (check,) = (
        cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == "test-exercise-the-mean"
    )
    visible, hidden = check.source.split("### BEGIN HIDDEN TESTS")
    assert visible.strip()
    check.source = "assert the_mean([4.0]) == 4\n### BEGIN HIDDEN TESTS" + hidden
    nbformat.write(notebook, path)
    findings = list(validate(course, "week1"))
    assert [finding.text for finding in findings if not finding.ok] == []
    said = "exercise the-mean: its visible check misses: “not divided”"
    assert [finding for finding in findings if finding.checked == checked] == [
        Finding(checked, "note", said, "the-mean")
    ]


CLASS = """
from torch import nn

from grader import Case, Exercise, MODULE, at, ClassCase, randn, wrong


class exercise_2(nn.Module):
    def __init__(self, by):
        super().__init__()
        self.by = by

    def forward(self, x):
        return self.by * x  #: result


exercise = Exercise(
    number=2, assignment="week1", title="A layer", solution=exercise_2, form=MODULE,
    cases=[Case("five", "constants", lambda rng: ClassCase([3], {}, {"output": [randn(rng, 5)]}))],
    mistakes=at(
        "result",
        wrong("added", "return x + self.by", "added"),
        wrong("squared", "return x * x", "squared"),
        wrong("as it was", "return x", "as it was"),
    ),
)
"""
LAYER = """import torch
class exercise_2(torch.nn.Module):
    def __init__(self, by):
        super().__init__()
        self.by = by
    def forward(self, x):
        return self.by * x
"""


@pytest.mark.slow
def test_noticed_by_visible_checks_of_a_class_finds_what_passes(course: Course) -> None:
    (course.root / "exercises/week1_2.py").write_text(CLASS)
    path = course.notebook("source", "week1")
    notebook = fill_in(nbformat.read(path, 4), {2: f"### BEGIN SOLUTION\n{LAYER}### END SOLUTION"})
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "test-exercise-2":
            hidden = cell.source[cell.source.index("### BEGIN HIDDEN TESTS") :]
            cell.source = f"print(exercise_2(by=2)(torch.full((2,), 2.0)))\n{hidden}"
    nbformat.write(notebook, path)
    compile_release(course, "week1")
    found = noticed_by_visible_checks(course, course, "week1")
    passed = [one.misconception for one in found if one.label == 2 and one.noticed is Noticed.PASSED]
    assert passed == ["added", "squared"]


@pytest.mark.slow
def test_validate_notes_a_visible_check_that_is_random(course: Course) -> None:
    """What it shows is another thing whenever it runs."""
    path = course.notebook("source", "week1")
    path.write_text(
        path.read_text().replace("assert the_mean(", "print(__import__('random').random())\\nassert the_mean(")
    )
    said = [finding.text for finding in validate(course, "week1") if finding.state == "note"]
    assert any(
        "exercise the-mean: its visible check accepts the notebook's solution, but says something else" in text
        for text in said
    )


def with_cell(course: Course, name: str, code: str) -> None:
    marks = {"grade_id": f"exercise-{name}", "grade": False, "solution": True, "locked": False, "task": False}
    notebook = course.read("source", "week1")
    notebook.cells += [
        nbformat.v4.new_code_cell("import math\nimport random as rd, statistics\n"),
        nbformat.v4.new_markdown_cell(f'<a id="exercise-{name}"></a>\n## Exercise {name} (2 points)'),
        nbformat.v4.new_code_cell(code, metadata={"nbgrader": {**marks, "schema_version": 3}}),
    ]
    nbformat.write(notebook, course.notebook("source", "week1"))


def test_new_exercise_uses_the_solution_of_the_notebook(course: Course) -> None:
    with_cell(
        course,
        "spread",
        "%matplotlib inline\ndef spread(values, by=1):\n    ### BEGIN SOLUTION\n    mean = statistics.fmean(values)\n"
        "    if by == 0:\n        return 0.0\n    total = sum((x - mean) ** 2 for x in values)  # a number\n"
        "    return math.sqrt(\n        total / by\n    )\n    ### END SOLUTION".replace("%matplotlib inline\n", ""),
    )
    made = new_exercise(course, "spread", "week1")
    assert made.from_cell
    text = (course.root / "exercises/week1_spread.py").read_text()
    assert "import math\nimport statistics\n\nfrom grader" in text  # what the notebook imports and the solution needs
    assert "    mean = statistics.fmean(values)  #: mean\n" in text
    assert "for x in values)  # a number  #: total\n" in text
    assert "return 0.0\n" in text  # two lines return something: neither has a mark
    assert "solution=spread," in text
    assert "inputs=lambda rng: (randn(rng, 4, 3),)" in text
    cells = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in course.read("source", "week1").cells]
    assert cells[-2:] == ["exercise-spread", "test-exercise-spread"]
    assert not (course.root / "corpus/week1/spread.txt").exists()
    assert "the solution cell has" not in " ".join(failed_findings(Course(course.root)))


def test_new_exercise_marks_a_cell_with_only_its_id(course: Course) -> None:
    notebook = course.read("source", "week1")
    notebook.cells += [
        nbformat.v4.new_markdown_cell('<a id="exercise-lengths"></a>\n## Exercise lengths: of rows (3 points)'),
        nbformat.v4.new_code_cell(
            "import numpy as np\n\n\ndef lengths(rows):\n    return np.sqrt((rows**2).sum(axis=1))",
            id="exercise-lengths",
        ),
    ]
    nbformat.write(notebook, course.notebook("source", "week1"))
    new_exercise(course, "lengths", "week1")
    cells = {cell.id: cell for cell in course.read("source", "week1").cells}
    assert cells["exercise-lengths"].metadata["nbgrader"]["grade_id"] == "exercise-lengths"
    assert cells["test-exercise-lengths"].metadata["nbgrader"]["points"] == 3
    assert 'hidden_tests("lengths", points=3)' in cells["test-exercise-lengths"].source.replace("'", '"')
    course = Course(course.root)
    (rows,) = course.exercises("week1")["lengths"].sample()[0].inputs  # an array, as the notebook imports numpy
    assert (type(rows).__name__, rows.shape) == ("ndarray", (4, 3))


def test_new_exercise_when_section_lacks_a_solution_cell_raises(course: Course) -> None:
    notebook = course.read("source", "week1")
    notebook.cells += [
        nbformat.v4.new_markdown_cell('<a id="exercise-odd"></a>\n## Exercise odd (3 points)'),
        nbformat.v4.new_code_cell("def odd(x):\n    return x"),
    ]
    nbformat.write(notebook, course.notebook("source", "week1"))
    with pytest.raises(CourseError, match="choose “Autograded answer”, and give it the ID exercise-odd"):
        new_exercise(course, "odd", "week1")


LAYER_WITHOUT_INIT = "import torch\n\n\nclass Layer(torch.nn.Module):\n    def forward(self, x):\n        return 2 * x"


def test_new_exercise_of_a_torch_class_has_form_module(course: Course) -> None:
    init = "    def __init__(self, by):\n        super().__init__()\n        self.by = by\n\n"
    with_cell(course, "layer", LAYER_WITHOUT_INIT.replace("    def", f"{init}    def", 1))
    new_exercise(course, "layer", "week1")
    layer = Course(course.root).exercises("week1")["layer"]
    assert (layer.entry, layer.form.name) == ("Layer", "module")
    assert layer.sample()


ACCOUNT = """\
class Account:
    def __init__(self, balance, owner=""):
        self.balance = balance
        self._owner = owner

    @property
    def owner(self):
        return self._owner

    def deposit(self, amount):
        ### BEGIN SOLUTION
        self.balance += amount
        return self.balance
        ### END SOLUTION

    def total(self):
        return self._rounded()

    def _rounded(self):
        return round(self.balance)"""


@pytest.mark.slow
def test_new_exercise_of_a_plain_class_calls_its_methods(course: Course) -> None:
    with_cell(course, "account", ACCOUNT)
    new_exercise(course, "account", "week1")
    assert "torch" not in (course.root / "exercises/week1_account.py").read_text()
    account = Course(course.root).exercises("week1")["account"]
    arguments, steps = account.sample()[0].inputs
    assert (account.form.name, len(arguments)) == ("objects", 1)
    assert [(name, len(given)) for name, *given in steps] == [("deposit", 1), ("total", 0)]
    (first, second) = account.reference(arguments, steps)
    assert first == second
    assert [note["value"] for note in first] == [arguments[0] + steps[0][1]] * 2
    assert [
        text for text in failed_findings(Course(course.root)) if "account" in text and "no misconception" not in text
    ] == []


PURSE = """\
class Purse:
    def __init__(self, coins):
        self.coins = sorted(coins)

    def total(self):
        return sum(self.coins)"""


@pytest.mark.slow
def test_validate_when_guessed_arguments_do_not_fit_says_so(course: Course) -> None:
    with_cell(course, "purse", PURSE)
    new_exercise(course, "purse", "week1")
    path = course.root / "exercises/week1_purse.py"
    assert "These are a guess" in path.read_text()
    (said,) = failed_findings(Course(course.root))
    assert said == (
        "exercise purse, `Purse`: `__init__` of the reference raises TypeError in every case. "
        "In `using(…)`, give it arguments that it takes."
    )
    guess = "using([int(rng.integers(1, 100))], "
    assert guess in path.read_text()
    path.write_text(path.read_text().replace(guess, "using([[1, int(rng.integers(1, 100))]], "))
    assert failed_findings(Course(course.root)) == []


@pytest.mark.slow
def test_validate_notes_a_method_that_refuses_its_arguments(course: Course) -> None:
    """It may be meant so: some methods are there to refuse."""
    with_cell(course, "purse", f"{PURSE}\n\n    def add(self, coins):\n        self.coins.extend(coins)")
    new_exercise(course, "purse", "week1")
    path = course.root / "exercises/week1_purse.py"
    path.write_text(path.read_text().replace("using([int(rng.integers(1, 100))], ", "using([[1, 2]], "))
    (told,) = (finding for finding in validate(Course(course.root), "week1") if "raises" in finding.text)
    assert "`add` of the reference raises TypeError in every case" in told.text
    assert told.ok


def test_exercises_when_a_class_lacks_init_raise(course: Course) -> None:
    with_cell(course, "layer", LAYER_WITHOUT_INIT)
    new_exercise(course, "layer", "week1")
    with pytest.raises(CourseError, match="the class `Layer` has no method `__init__`, and needs one"):
        Course(course.root).exercises("week1")


@pytest.mark.parametrize(
    ("code", "told"),
    [("x = 1", "defines no function and no class"), ("def f(:", "is not Python: line 1, invalid syntax")],
)
def test_new_exercise_when_cell_has_no_solution_raises(code: str, told: str, course: Course) -> None:
    with_cell(course, "empty", code)
    before = files_in(course.root)
    with pytest.raises(CourseError, match=told):
        new_exercise(course, "empty", "week1")
    assert files_in(course.root) == before


def test_gitignore_of_a_new_course_leaves_out_the_roster(course: Course) -> None:
    ignored = (course.root / ".gitignore").read_text().split()
    assert {"/roster.csv", "/release_marimo/", "/release_single/"} <= set(ignored)


def test_new_when_files_exist_overwrites_nothing(course: Course) -> None:
    before = files_in(course.root)
    refused: list[Callable[[], object]] = [
        lambda: new_course(course.root),
        lambda: new_assignment(course, "week1"),
        lambda: new_exercise(course, "2", "week1"),
        lambda: new_exercise(course, "the_mean", "week1"),  # the same file, and the same function
    ]
    for command in refused:
        with pytest.raises(CourseError, match="already"):
            command()
    assert files_in(course.root) == before


@pytest.mark.parametrize("name", ["", "a b", "0", "2b", "../x", "lambda", "None"])
def test_new_with_an_impossible_name_raises(name: str, course: Course) -> None:
    says = (
        "Choose another name"
        if name in ("lambda", "None")
        else "Use a number, or a letter and then letters, digits, - and _"
    )
    with pytest.raises(CourseError, match=says):
        new_exercise(course, name, "week1")
    if name not in ("0", "2b", "lambda", "None"):
        with pytest.raises(CourseError, match="Use letters"):
            new_assignment(course, name)


def test_new_exercise_of_an_unknown_assignment_raises(course: Course) -> None:
    with pytest.raises(CourseError, match="no assignment “week2”"):
        new_exercise(course, "mean", "week2")


def test_new_exercise_when_exercises_are_a_package_raises(course: Course) -> None:
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write('c.GraderCourse.exercises = "grader.exercises"\n')
    with pytest.raises(CourseError, match=r"in the package grader\.exercises"):
        new_exercise(course, "mean", "week1")
