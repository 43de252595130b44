"""Ordinary tests of nbgrader: cells of assertions, run where the student's code runs, and scored as nbgrader scores."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import nbformat
import pytest
from nbgrader.utils import compute_checksum, determine_grade

from grader.classroom.submission_grader import SubmissionGrader
from grader.host.grading import grade_notebook
from grader.host.limits import Limits
from grader.judging.ordinary_scores import Test as OneTest
from grader.judging.ordinary_scores import bound_outputs, judge_test
from grader.model.answer import Loss
from grader.model.ordinary import OrdinaryTests
from grader.model.submission import Assignment, AssignmentNotebook, ReleasedCell, Submission
from grader.model.verdict import Reason, Scored, Verdict
from grader.notebooks.repair import nbgrader_metadata
from grader.notebooks.verdict_cells import verdicts_of
from support.our_course import OURS

SHORT = Limits(cell=5, case=3, submission=120)
SHORTER = Limits(cell=1, case=1, submission=60)  # where something hangs for certain
HIDDEN = "assert f(1) == 1, 'for one'\n### BEGIN HIDDEN TESTS\nassert f(12345) == 5, 'secret'\n### END HIDDEN TESTS"


def a_test(source: str, points: float = 4.0, name: str = "a-test") -> Any:
    marks = {"grade_id": name, "grade": True, "solution": False, "locked": True, "points": points}
    return nbformat.v4.new_code_cell(source, metadata={"nbgrader": marks})


def grade(*cells: Any, given: str = "import math\nimport numpy as np", limits: Limits = SHORT) -> list[Any]:
    """The test cells of a notebook of student code (text) and tests, as they are graded."""
    tests = [cell for cell in cells if not isinstance(cell, str)]
    known = [ReleasedCell("given", "code", given, False, False, True, 0.0)]
    known += [ReleasedCell("a-test", "code", cell.source, True, False, True, 4.0) for cell in tests]
    code = [nbformat.v4.new_code_cell(cell) if isinstance(cell, str) else cell for cell in (given, *cells)]
    ordinary = OrdinaryTests.of(known, "BEGIN HIDDEN TESTS", "END HIDDEN TESTS", "")
    grade_notebook(nbformat.v4.new_notebook(cells=code), None, replace(OURS, limits=limits, ordinary=ordinary))
    return tests


def score(cell: Any) -> float:
    """What nbgrader reads, which must be what our verdict says."""
    points, most = determine_grade(cell)
    assert Scored(verdict(cell), most).points == pytest.approx(points)
    return float(points)


def verdict(cell: Any) -> Verdict:
    (scored,) = verdicts_of(cell)
    return scored.verdict


def sentences_of(cell: Any) -> str:
    return "\n".join(verdict(cell).sentences)


@pytest.mark.parametrize(
    ("source", "points"),
    [
        ("assert f(3) == 6", 4.0),
        ("assert f(3) == 7", 0.0),
        ("1 / 0", 0.0),
        ("not python at all", 0.0),
        ("raise SystemExit", 0.0),
        ("1.5", 1.5),
        ("1 / 3", 1 / 3),
        ("0", 0.0),
        ("4", 4.0),
        ("1.5;", 4.0),  # shows nothing
        ("print('0')", 4.0),
        ("display(0)", 4.0),
        ("-1", 4.0),
        ("'two'", 4.0),
        ("float('nan')", 4.0),
        ("True", 4.0),
        ("import sys\nprint('a warning', file=sys.stderr)", 0.0),
        ("import warnings\nwarnings.warn('old')\n3", 0.0),
        ("f(3) == 7", 4.0),
        ("np.float64(2.5)", 4.0),  # numpy shows its type
    ],
)
def test_ordinary_test_points_equal_those_of_nbgrader(source: str, points: float) -> None:
    (cell,) = grade("def f(x): return 2 * x", a_test(source))
    assert score(cell) == points


@pytest.mark.parametrize("source", ["5", "float('inf')", "class Odd:\n    def __repr__(self): return ''\nOdd()"])
def test_value_that_nbgrader_refuses_gives_all_points_with_a_sentence(source: str) -> None:
    (cell,) = grade(a_test(source))
    assert score(cell) == 4.0
    assert "nbgrader would refuse" in sentences_of(cell)


def test_within_bounds_when_points_are_too_many_caps_them() -> None:
    outputs = [nbformat.v4.new_output("execute_result", data={"text/plain": text}) for text in ("1e999", "2")]
    assert [output.output_type for output in bound_outputs(outputs, 4.0)] == ["display_data"] * 2
    _, verdict = judge_test(OneTest("a", "", 4.0, ()), outputs)
    assert verdict.credit == 1.0


def test_visible_test_when_failed_shows_line_and_message() -> None:
    (cell,) = grade("def f(x): return 2", a_test("\n\nx = 1\nassert f(x) == 1, f'f({x}) is {f(x)}'"))
    assert sentences_of(cell) == "The test `assert f(x) == 1, f'f({x}) is {f(x)}'` fails: f(1) is 2"
    assert verdict(cell).reason == Reason.TEST_FAILED
    assert verdict(cell).in_process


def test_hidden_test_when_failed_shows_no_text_of_it() -> None:
    (cell,) = grade("def f(x): return 1", a_test(HIDDEN))
    assert sentences_of(cell) == "A hidden test fails."


def test_hidden_test_with_an_error_shows_neither_line_nor_message() -> None:
    (cell,) = grade("def f(x):\n    if x == 1: return 1\n    raise ValueError(f'asked for {x}')", a_test(HIDDEN))
    assert sentences_of(cell) == "A hidden test fails: the code stops with `ValueError`."


def test_later_messages_are_hidden_once_the_code_has_seen_a_hidden_test() -> None:
    spy = (
        "seen = []\ndef f(x):\n    seen.append(x)\n    if len(seen) > 2: raise ValueError(str(seen))\n    return x % 10"
    )
    _, later = grade(spy, a_test(HIDDEN), a_test("assert f(3) == 3, str(seen)"))
    assert sentences_of(later) == "The test `assert f(3) == 3, str(seen)` stops with `ValueError`."


def test_message_in_a_visible_line_is_shown_after_a_hidden_test() -> None:
    (cell,) = grade("def f(x): return 2", a_test(HIDDEN))
    assert sentences_of(cell) == "The test `assert f(1) == 1, 'for one'` fails: for one"


@pytest.mark.slow
def test_ordinary_test_that_hangs_or_dies_costs_only_its_points() -> None:
    cells = grade(
        "def f(x): return x",
        a_test("state = f(7)"),
        a_test("while True: pass"),
        a_test("import os; os._exit(0)"),
        a_test("assert state == 7"),
        limits=SHORTER,
    )
    assert [score(cell) for cell in cells] == [4.0, 0.0, 0.0, 4.0]
    assert [verdict(cell).loss for cell in cells] == [None, Loss.TIME, Loss.DEATH, None]


def test_ordinary_test_when_output_is_huge_keeps_its_points() -> None:
    loud = "for n in range(20): print('x' * 100_000)\n"
    cells = grade(a_test(f"{loud}assert True"), a_test(f"{loud}1.5"), a_test(f"{loud}assert False"))
    assert [score(cell) for cell in cells] == [4.0, 1.5, 0.0]
    assert all(len(str(cell.outputs)) < 2 * 2**20 for cell in cells)


def test_notebook_with_too_much_output_keeps_the_outputs_that_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.host.grading.MAX_OUTPUT", 1000)
    sources = ("assert False, 'no'", "2.0", "assert True")
    cells = grade("print('x' * 2000)", *map(a_test, sources))
    assert [score(cell) for cell in cells] == [0.0, 2.0, 4.0]


def test_ordinary_tests_are_not_in_the_process_before_their_turn() -> None:
    spelled = ", ".join(str(ord(letter)) for letter in "xyzzyx")  # or the code would find itself
    look = f"import gc\nword = bytes([{spelled}]).decode()\n"
    look += "texts = [part for part in gc.get_referents(*gc.get_objects()) if type(part) is str and part is not word]\n"
    look += "found = any(word in part for part in texts)\ndel texts"
    first, second, third = grade(look, a_test("assert not found"), a_test("'xyzzyx'"), look, a_test("assert found"))
    assert [score(cell) for cell in (first, second, third)] == [4.0] * 3


FOOLS = {
    "a builtin": "import builtins\nbuiltins.abs = lambda x: 0",
    "a name of the notebook": "abs = lambda x: 0",
    "all builtins of the notebook": "import builtins\n__builtins__ = {**vars(builtins), 'abs': lambda x: 0}",
    "a function of a module": "import math\nmath.fabs = lambda x: 0\nabs = math.fabs",
    "another error": "import builtins\nbuiltins.AssertionError = type('Quiet', (SystemExit,), {})\nabs = lambda x: 0",
    "the shell's errors": "get_ipython().showtraceback = lambda *a, **k: None",
    "the class of the shell": "async def quiet(*a, **k): return False\ntype(get_ipython()).run_code = quiet",
    "a class above the shell's": "from IPython.core.interactiveshell import ExecutionResult, InteractiveShell\n"
    "async def quiet(*a, **k): return ExecutionResult(None)\nInteractiveShell.run_cell_async = quiet",
    "the shell itself": "async def quiet(*a, **k): return False\nget_ipython().run_code = quiet",
    "what compiles": "def quiet(*a, **k): return compile('pass', 'x', 'exec')\n"
    "type(get_ipython().compile).__call__ = quiet",
    "code that is rewritten": "import ast\nclass No(ast.NodeTransformer):\n    def visit_Assert(self, node):\n"
    "        return ast.Pass()\nget_ipython().ast_transformers.append(No())",
    "text that is rewritten": "get_ipython().input_transformers_post.append(lambda lines: ['pass\\n'])",
    "something before each cell": "def fool(info): globals()['abs'] = lambda x: 0\n"
    "get_ipython().events.register('pre_run_cell', fool)",
    "errors that are handled": "get_ipython().set_custom_exc((Exception,), lambda *a, **k: [])",
    "a trace": "import sys\nsys.settrace(lambda *a: (_ for _ in ()).throw(SystemExit))",
}


@pytest.mark.parametrize("name", FOOLS)
def test_names_that_tests_rely_on_are_restored(name: str) -> None:
    (cell,) = grade(FOOLS[name], "def f(x): return 5", a_test("assert abs(f(3) - 9) < 1e-9"))
    assert score(cell) == 0.0


def test_module_that_tests_use_is_restored_with_a_sentence() -> None:
    fool = "np.allclose = lambda *a, **k: True"
    (patched,) = grade(fool, "def f(x): return 5", a_test("assert np.allclose(f(3), 9)"))
    assert score(patched) == 0.0
    assert "`numpy.allclose`" in sentences_of(patched)
    (replaced,) = grade("class np:\n    allclose = lambda *a: True", a_test("assert np.allclose(5, 9)"))
    assert score(replaced) == 0.0
    (hidden,) = grade("import sys\nsys.modules['math'] = None", a_test("import math\nassert math.isclose(1, 1)"))
    assert score(hidden) == 4.0


def test_name_that_the_course_asks_for_is_not_restored() -> None:
    """Where it asks for `sum`, that one is tested; a name that the notebook has borrowed comes back after the test."""
    asked = "def sum(values):\n    raise NotImplementedError"
    (cell,) = grade("def sum(values): return 7", a_test("assert sum([1]) == 7"), given=asked)
    assert score(cell) == 4.0
    _, after = grade("max = 3", a_test("assert max(1, 2) == 2"), "kept = max", a_test("assert kept == 3"))
    assert score(after) == 4.0


def test_code_that_is_still_to_be_written_is_reported_as_such() -> None:
    (cell,) = grade("def f(x):\n    raise NotImplementedError()", a_test("assert f(1) == 1"))
    assert sentences_of(cell).endswith(
        "The test `assert f(1) == 1` stops with `NotImplementedError`: what it tests is still to be written, or still "
        "has that line."
    )


def test_error_that_the_code_hides_counts() -> None:
    """As in nbgrader, which looks at the kernel's reply, too."""
    (cell,) = grade(a_test("get_ipython().showtraceback = lambda *a, **k: None\nassert False, 'no'"))
    assert score(cell) == 0.0


def test_test_of_undefined_code_earns_nothing() -> None:
    (cell,) = grade("def f(x) return", a_test("assert f(1) == 1"))
    assert sentences_of(cell) == "The test `assert f(1) == 1` stops with `NameError`: name 'f' is not defined"


# Beside a notebook that was not submitted.


def as_cell(known: ReleasedCell) -> Any:
    return nbformat.v4.new_code_cell(known.source, metadata={"nbgrader": nbgrader_metadata(known)})


@pytest.fixture
def course_of_tests() -> Assignment:
    cells = {"half": ("0.25 + 0.25", 2.0), "third": ("1 / 3", 1.0), "wrong": ("assert f(1) == 2, 'two'", 2.0)}
    known = [
        ReleasedCell("given", "code", "import math", False, False, True, 0.0),
        *(ReleasedCell(name, "code", source, True, False, True, points) for name, (source, points) in cells.items()),
    ]
    known = [replace(cell, checksum=compute_checksum(as_cell(cell))) for cell in known]
    notebooks = [AssignmentNotebook(name, None, known, frozenset()) for name in ("first", "second")]
    return Assignment("ps", "sqlite://", notebooks, {}, "c = get_config()", "cpu", True)


def test_grade_missing_notebook_beside_ordinary_tests_earns_nothing(course_of_tests: Assignment) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("def f(x): return x")])
    submission = Submission("ada", {"first": nbformat.writes(notebook).encode()}, {})
    graded = SubmissionGrader(course_of_tests).grade(submission)
    assert graded.error == ""
    assert graded.notebooks["first"].scores == {"half": 0.5, "third": 1 / 3, "wrong": 0.0}
    assert graded.notebooks["second"].scores == {"half": 0.0, "third": 0.0, "wrong": 0.0}
    assert graded.notebooks["second"].text == ""
    assert (round(graded.points, 6), graded.max_points) == (0.833333, 10.0)
