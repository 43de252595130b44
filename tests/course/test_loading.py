"""The exercises of a course as a value: loaded from the texts of their files, wherever those lie."""

from __future__ import annotations

import inspect
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from traitlets.config import Config

from grader import at, wrong
from grader.course.exercise_texts import hidden_folders, read_exercise_files
from grader.course.loading import ExerciseError, earlier_functions, in_order_of, load
from grader.errors import CourseError
from grader.judging.answer_key import AnswerKey, answers_of_code
from grader.judging.judge import Judge
from grader.model.exercise_files import ExerciseFiles
from grader.model.label import as_in, in_order, label_of
from grader.model.misconception import can_combine
from grader.sandbox.probes import load_probe

DOUBLE = '''\
"""Exercise {label}: twice as much."""

from grader import Case, Exercise, Misconception, randn


def double(x):
    return 2 * x  #: result


exercise = Exercise(
    {label},
    assignment="{assignment}",
    title="twice as much",
    entry="{entry}",
    solution=double,
    cases=[Case("three numbers", catches="a constant", inputs=lambda rng: (randn(rng, 3),))],
    mistakes=[
        Misconception(
            "squared", "wrong formula", 0.0, says="Each is squared.", change={{"result": "return x * x"}}
        ),
    ],
)
'''


LINES = """\
from grader import Case, Exercise, randn, wrong


def double(x):
    twice = 2 * x  #: twice
    return twice  #: result


exercise = Exercise(
    number=1,
    assignment="ps1",
    title="twice as much",
    solution=double,
    cases=[Case("three numbers", catches="a constant", inputs=lambda rng: (randn(rng, 3),))],
    mistakes=[
        wrong("three times", {"twice": "twice = 3 * x"}, "It is three times as much."),
        MORE
    ],
)
"""


def lines(more: str = "") -> str:
    """Of an exercise whose mistakes are lines."""
    return LINES.replace("MORE", f'wrong("another", {more}, "It is something else."),' if more else "")


def double(label: str = "number=1", assignment: str = "ps1", entry: str = "double") -> str:
    return DOUBLE.format(label=label, assignment=assignment, entry=entry)


def files(**texts: str) -> ExerciseFiles:
    return ExerciseFiles("/course/exercises", {f"{name}.py": text.encode() for name, text in texts.items()})


def course(folder: Path, **texts: str) -> Path:
    (folder / "exercises").mkdir(parents=True)
    for name, text in texts.items():
        (folder / "exercises" / f"{name}.py").write_text(text)
    return folder


# --- what is right ---------------------------------------------------------------------------------------------------


def test_exercises_are_numbered_or_named_within_their_assignment() -> None:
    catalogue = load(
        files(
            ex_b=double("number=2", entry="b"),
            ex_a=double("number=1", entry="a"),
            ex_named=double('name="soft-max"', entry="c"),
            ex_other=double("number=1", "ps2"),
        )
    )
    assert list(catalogue.of("ps1")) == [1, 2, "soft-max"]
    assert list(catalogue.of("ps2")) == [1]
    assert not catalogue.of("ps3")


def test_earlier_functions_are_those_of_the_assignment() -> None:
    texts = {f"ex{label}": double(f"number={label}", entry=f"f{label}") for label in (1, 2, 3)}
    exercises = load(files(**texts, ex_other=double("number=1", "ps2", "g"))).of("ps1")
    assert list(earlier_functions(exercises, exercises[3])) == ["f1", "f2"]
    assert not earlier_functions(exercises, exercises[1])


def test_in_order_of_follows_the_notebook() -> None:
    """By their names, assign comes before distances."""
    names = ("assign", "distances", "means")
    exercises = load(files(**{f"ex_{name}": double(f'name="{name}"', entry=name) for name in names})).of("ps1")
    as_released = in_order_of(exercises, ["distances", None, "no-such-exercise", "assign", "distances"])
    assert list(as_released) == ["distances", "assign", "means"]
    assert list(earlier_functions(as_released, as_released["assign"])) == ["distances"]
    assert not earlier_functions(as_released, as_released["distances"])


def test_load_resolves_relative_imports_also_during_calls() -> None:
    shared = "def twice(x):\n    from .deeper import factor\n    return factor * x  #: result\n"
    text = double().replace("from grader", "from .shared import twice\nfrom grader")
    text = text.replace("solution=double", "solution=twice")
    exercise = load(files(ex1=text, shared=shared, deeper="factor = 2\n")).of("ps1")[1]
    assert exercise.reference(3) == 6


def test_load_works_after_the_file_is_gone(tmp_path: Path) -> None:
    root = course(tmp_path, ex1=double())
    found = read_exercise_files(Config(), root)
    (root / "exercises/ex1.py").unlink()
    exercise = load(found).of("ps1")[1]
    assert exercise.reference(2) == 4
    assert inspect.getsource(exercise.reference).startswith("def double(x):")


def test_load_uses_the_sent_texts_and_not_the_files(tmp_path: Path) -> None:
    folder = course(tmp_path, ex1=double(entry="of_the_disk"), beside="NAME = 'of_the_disk'") / "exercises"
    sent = double().replace("from grader", "from .beside import NAME\nfrom grader").replace('"double"', "NAME")
    texts = {"ex1.py": sent.encode(), "beside.py": b"NAME = 'of_the_texts'"}
    assert load(ExerciseFiles(str(folder), texts)).of("ps1")[1].entry == "of_the_texts"


def test_load_of_the_same_texts_is_cached() -> None:
    one, other = files(ex1=double()), files(ex1=double().replace("2 * x", "3 * x"))
    assert [load(each).of("ps1")[1].reference(1) for each in (one, other)] == [2, 3]
    assert load(one).of("ps1")[1] is load(files(ex1=double())).of("ps1")[1]
    assert one.digest != other.digest


def test_read_exercise_files_without_folder_or_with_another_name(tmp_path: Path) -> None:
    assert read_exercise_files(Config(), tmp_path) == ExerciseFiles()
    root = course(tmp_path, ex1=double())
    (root / "exercises").rename(root / "hidden-things")
    (root / "hidden-things/.ipynb_checkpoints").mkdir()
    (root / "hidden-things/.ipynb_checkpoints/ex1.py").write_text("")
    config = Config()
    config.GraderCourse.exercises = "hidden-things"
    assert list(read_exercise_files(config, root).texts) == ["ex1.py"]


def test_read_exercise_files_when_setting_leads_nowhere_raises(tmp_path: Path) -> None:
    config = Config()
    for setting in ("no_such_folder", "no.such_package", "../", 7):
        config.GraderCourse.exercises = setting
        with pytest.raises(CourseError, match="neither a folder in the course nor an installed package"):
            read_exercise_files(config, tmp_path)


def test_read_exercise_files_of_a_package_does_not_import_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack = course(tmp_path / "site/a_pack", ex1=double())
    (pack / "__init__.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(tmp_path / "site")
    config = Config()
    config.GraderCourse.exercises = "a_pack.exercises"
    found = read_exercise_files(config, tmp_path)
    assert load(found).of("ps1")[1].entry == "double"
    assert hidden_folders(found) == [str(pack / "exercises"), str(pack)]
    assert "a_pack" not in sys.modules


@pytest.mark.parametrize(
    ("written", "label"),
    [("3", 3), (3, 3), ("softmax", "softmax"), ("0", None), ("", None), (True, None), ("3b", None), (None, None)],
)
def test_label_of_returns_a_number_or_a_name(written: object, label: object) -> None:
    assert label_of(written) == label


def test_in_order_sorts_none_numbers_then_names() -> None:
    assert sorted([10, "b", None, 9, "a"], key=in_order) == [None, 9, 10, "a", "b"]
    assert as_in(["b", None, 10], ["a", 9, 10, None, "b"]) == [None, "b", 10, 9, "a"]


def test_load_makes_a_mistake_of_a_line_of_the_solution() -> None:
    exercise = load(files(ex1=lines())).of("ps1")[1]
    assert (exercise.entry, exercise.reference(5)) == ("double", 10)
    assert exercise.wrong_answer(exercise.mistakes, (5,)) == 15


SHARED = """\
from grader import Needs, wrong

MISTAKE = wrong("shared", {"result": "return total - x"}, "It is too small.", needs=Needs("result twice", "x total"))
OTHERS = [
    wrong("a", {"after sum": "x = 1"}, "It is.", needs=Needs("sum result", "x")),
    wrong("b", {"mean": "x = 1", "sum": "x = 2"}, "It is not.", needs=Needs("sum mean", "x")),
]
"""


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("*[MISTAKE]", "line 10: its solution has no `total`, which mistakes that it shares with others need."),
        ("*[MISTAKE]", "They are written for the marks result twice; and the variables x total."),
        ("*OTHERS", "line 10: its solution has no `sum`, which mistakes that it shares with others need. They are"),
        ("*OTHERS", "line 10: its solution has no `mean` or `sum`, which"),
    ],
)
def test_load_when_shared_mistakes_lack_marks_says_so_once(more: str, said: str) -> None:
    text = LINES.replace("MORE", f"{more},").replace("wrong\n", "wrong\nfrom .shared import MISTAKE, OTHERS\n", 1)
    with pytest.raises(ExerciseError) as caught:
        load(files(ex1=text, shared=SHARED), ["ps1"])
    assert said in str(caught.value)
    assert "“" not in str(caught.value), "no mistake is told by itself"


def test_load_when_shared_mistakes_have_their_marks_adds_them() -> None:
    text = LINES.replace("MORE", "MISTAKE,").replace("wrong\n", "wrong\nfrom .shared import MISTAKE\n", 1)
    loaded = load(files(ex1=text.replace("twice = 2", "total = twice = 2"), shared=SHARED), ["ps1"])
    assert [mistake.name for mistake in loaded.of("ps1")[1].mistakes] == ["three times", "shared"]


TWO_WAYS = '[{"twice": "twice = 4 * x"}, {"twice": "twice = 5 * x"}]'


def test_mistake_written_in_two_ways_has_one_name() -> None:
    exercise = load(files(ex1=lines(TWO_WAYS))).of("ps1")[1]
    *_, four, five = exercise.mistakes
    assert (four.name, five.name) == ("another", "another")
    assert [exercise.wrong_answer([way], (5,)) for way in (four, five)] == [20, 25]
    assert not can_combine(four, five)
    key = AnswerKey(exercise, exercise.sample())
    for way in (four, five):
        answers = answers_of_code(key.cases, exercise.as_a_whole(way))
        assert Judge().verdict(key, answers).misconceptions == ("another",)
    assert replace(exercise, title="another title").mistakes == exercise.mistakes


def test_at_with_also_changes_other_lines() -> None:
    first, second = at("scale", wrong("x", ["a", ("b", "c")], "It is.", also={"mix": "d"}), wrong("y", "", "It is."))
    assert [way.change for way in first.ways] == [{"scale": "a", "mix": "d"}, {"scale": ("b", "c"), "mix": "d"}]
    assert [way.key for way in first.ways] == [("x", 0), ("x", 1)]
    assert [way.change for way in second.ways] == [{"scale": ""}]


# --- what is wrong ---------------------------------------------------------------------------------------------------

NO_NAME = "an exercise needs either a number"


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ({"ex1": "x = (\n"}, "exercises/ex1.py, line 1: SyntaxError: '(' was never closed."),
        ({"ex1": double().replace("randn(rng", "rand(rng") + "\nrandm(3)\n"}, "line 24: NameError: name 'randm'"),
        ({"ex1": double().replace('    title="twice as much",\n', "")}, "line 10: TypeError: Exercise.__init__()"),
        ({"ex1": "x = 1\n"}, "ex1.py, line 1: it does not set `exercise`."),
        ({"ex1": "\nexercise = {}\n"}, "ex1.py, line 2: `exercise` is of type dict, not an Exercise."),
        ({"ex1": "from shared import x\n", "shared": "x = 1"}, "No module named 'shared'. Import files next to it"),
        ({"ex1": "from .sharing import x\n"}, "ex1.py, line 1: ModuleNotFoundError: No module named '.sharing'."),
        ({"ex1": "from .shared import y\n", "shared": ""}, "cannot import name 'y' from '.shared' ("),
        ({"ex1": "from .shared import x\n", "shared": "\n1 / 0\n"}, "exercises/shared.py, line 2: ZeroDivisionError"),
        ({"ex1": "raise SystemExit(3)\n"}, "ex1.py, line 1: SystemExit: 3."),
        ({"ex-1": double()}, "ex-1.py, line 1: the name of an exercise file can only have letters"),
        ({"ex1": double("number=0")}, f"ex1.py, line 10: {NO_NAME}"),
        ({"ex1": double('number=1, name="a"')}, NO_NAME),
        ({"ex1": double('name="a b"')}, NO_NAME),
        ({"ex1": double(), "ex2": double()}, "ex2.py, line 10: exercise 1 of ps1 is also in ex1.py."),
        ({"ex1": double(assignment="ps7")}, "ex1.py, line 10: there is no assignment “ps7”. Assignments: ps1, ps2."),
        ({"ex1": double(entry="to do")}, "`entry` is “to do”, which is not a name"),
        ({"ex1": double().replace("cases=[Case", "cases=[] and [Case")}, "`double` has no cases"),
        ({"ex1": double().replace("mistakes=[", "mistakes=2 * [")}, "has 2 mistakes"),
        ({"ex1": double().replace("mistakes=", "mistake=")}, "Did you mean “mistakes”"),
        ({"ex1": double().replace("catches=", "caches=")}, "'caches'. Did you mean “catches”?"),
        (
            {"ex1": double().replace('{"result": "return x * x"}', "double")},
            "“squared”: `change` is of type function, but should be a dict.",
        ),
        (
            {"ex1": double().replace("solution=double", 'explained_in={"square": ""}, solution=double')},
            "`explained_in` names “square”, which is neither",
        ),
        ({"ex1": double().replace("wrong formula", "wrong formla")}, "no kind “wrong formla”. Did you mean “wrong"),
        ({"ex1": double().replace("0.0, says", "'half', says")}, "`credit` is 'half', but should be a number."),
        ({"ex1": double().replace("cases=[", "cases=None and [")}, "`cases` is None, but should be a list."),
        ({"ex1": double().replace("cases=[", 'cases=["all", ')}, "`cases` holds 'all', not `Case(…)`."),
        ({"ex1": double().replace("lambda rng: (randn(rng, 3),)", "(1,)")}, "line 16: “three numbers”: `inputs` is of"),
        ({"ex1": lines('{"": "x = 1"}')}, "line 17: “another” changes “”, which is not a mark of the"),
        ({"ex1": lines('"x = 1"')}, "line 17: “another” changes “the line of at(…)”, which is not a mark of the"),
        ({"ex1": lines('[{"twice": "y = 3"}, {"twice": "x = x"}]')}, "line 17: “another”: its lines read `twice`,"),
        ({"ex1": lines(f"[{TWO_WAYS[1:-1]}, {TWO_WAYS[1:-1]}]")}, "“another” has the same lines as “another”."),
        ({"ex1": lines('{"twce": "x = 1"}')}, "line 17: “another” changes “twce”, which is not a mark of the"),
        ({"ex1": lines('{"twice": "x = x"}')}, "line 17: “another”: its lines read `twice`, which nothing binds."),
        ({"ex1": lines('{"twice": "twice = 2 *"}')}, "“another”: with its lines, the solution is not Python"),
        ({"ex1": lines('{"twice": ("3", "4")}')}, "“another”: “3” does not stand in “twice = 2 * x”."),
        (
            {"ex1": lines().replace("def double(x):", "class double:\n  def twice(self, x):")},
            "ex1.py, line 10: its solution is a class. Set `form=OBJECTS`; or `form=MODULE`, if it",
        ),
        (
            {"ex1": lines().replace('as much."', 'as much.", kind="formula"')},
            "ex1.py, line 16: “three times”: there is no kind “formula”. There are: scaling, axis, mix-up,",
        ),
        ({"ex1": lines('{"twice": "twice = 3 * x"}')}, "line 17: “another” has the same lines as “three times”."),
        ({"week/ex1": double(), "ex2": double()}, "week/ex1.py, line 10: an exercise in a subfolder is not found"),
    ],
)  # fmt: skip
def test_load_when_a_file_is_wrong_names_the_line(texts: dict[str, str], said: str) -> None:
    with pytest.raises(ExerciseError) as caught:
        load(files(**texts), ["ps1", "ps2"])
    assert said in str(caught.value)
    assert str(caught.value).endswith("Fix that, then run this again.")


def test_load_of_one_assignment_does_not_read_the_mistakes_of_others() -> None:
    """Whoever grades one is not stopped by a slip in another one."""
    texts = files(ex1=double(), ex2=lines('{"twice": "x = x"}').replace("ps1", "ps2"))
    assert list(load(texts, ["ps1", "ps2"], assignment="ps1").of("ps1")) == [1]
    for assignment in ("ps2", None):
        with pytest.raises(ExerciseError, match="which nothing binds"):
            load(texts, ["ps1", "ps2"], assignment=assignment)


def test_load_names_all_wrong_files_at_once() -> None:
    wrong = files(ex1="1 / 0", ex2="x = ", ex3=double())
    with pytest.raises(ExerciseError) as caught:
        load(wrong)
    assert str(caught.value).count("\n") == 2
    assert not [name for name in sys.modules if name.startswith(f"exercises_{wrong.digest[:16]}")]


# --- probes ----------------------------------------------------------------------------------------------------------

PROBED = """\
from __future__ import annotations
import random
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from math import sqrt
from torch import nn

from grader import Case, Exercise, put_once, randn

from .sharing import Base as again, Named, again as renamed, drawing, factor

OFFSET = 4
Tensor, SIZES, RANDOM = torch.Tensor, {"small": (2, -3.5), "none": None}, torch.ones(1)


def double(x):
    return 2 * x  #: result


def look(function, x: Sequence[int]) -> Unheard:
    VALUE


exercise = Exercise(
    number=1,
    assignment="ps1",
    title="twice as much",
    solution=double,
    probe=look,
    cases=[Case("three numbers", catches="a constant", inputs=lambda rng: (randn(rng, 3),))],
    mistakes=[],
)
"""
SHARING = """\
from __future__ import annotations
from grader import randn

OFFSET = 3


def factor(x, by=OFFSET):
    return by * x if x > 0 else factor(-x)


def drawing(x):
    return randn(x)


def again(x):
    return x


class Base:
    offset: Offset = OFFSET
    both = (offset, offset)


class Named(Base):
    def total(self):
        return sum(self.both) + super().offset
"""


def probed_files(value: str, **changed: str) -> ExerciseFiles:
    text = PROBED.replace("VALUE", value)
    for old, new in changed.items():
        text = text.replace(f"{old}=look", new)
    return files(ex1=text, sharing=SHARING)


@pytest.mark.parametrize(
    ("value", "result"),
    [
        ("return function(x)", 10),
        ("return put_once(function, [x])", 10),
        ("return sqrt(nn.functional.relu(torch.tensor(4.0)))", 2.0),
        ("return isinstance(F.relu(torch.ones(2)), Tensor)", True),
        ("return SIZES", {"small": (2, -3.5), "none": None}),
        ("return factor(-5)", 15),
        ("return Named().total()", 9),
        ("return [y for y in range(x) if (lambda z: z > 3)(y)]", [4]),
    ],
)
def test_load_sends_what_a_probe_uses_with_it(value: str, result: Any) -> None:
    exercise = load(probed_files(value)).of("ps1")[1]
    assert load_probe(exercise.probe_text)(lambda x: 2 * x, 5) == result
    assert "Exercise(" not in exercise.probe_text


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("return nothing", "ex1.py, line 26: its probe `look` uses `nothing`, which nothing defines."),
        ("return random.random()", "its probe `look` uses `random`, which is not there in the sandbox."),
        ("return randn(x)", "uses `randn`, which is not there in the sandbox. A probe has math, numpy and torch; "),
        ("return RANDOM", "its probe `look` uses `RANDOM`, which is not there in the sandbox."),
        ("return drawing(x)", "its probe `look` uses `randn`, which is not there in the sandbox."),
        (
            "return renamed(x)",
            "uses `renamed`, which is not defined by this name at the top of a file.",
        ),
        ("return OFFSET + factor(x)", "its probe `look` uses two things called `OFFSET`. Rename one of them."),
        ("return again(x)", "uses `again`, which is not defined by this name at the top of a file."),
        ("import os\n    return os", "its probe `look` imports `os` itself. Import at the top of the file."),
        ("return double(x)", "line 26: the probe of `double` uses `double`, a solution. All that it uses goes to"),
    ],
)
def test_load_when_a_probe_uses_what_the_sandbox_has_not_refuses_it(value: str, said: str) -> None:
    with pytest.raises(ExerciseError) as caught:
        load(probed_files(value))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("probe", "said"),
    [
        ("probe=lambda function, x: x", "uses `<lambda>`, which is not defined by this name at the top of a file."),
        ('probe="look"', "`probe` should be a function at the top of a file of the course."),
    ],
)
def test_load_when_a_probe_has_no_name_refuses_it(probe: str, said: str) -> None:
    with pytest.raises(ExerciseError) as caught:
        load(probed_files("return x", probe=probe))
    assert said in str(caught.value)
