"""What the text of a student's code shows, and what is said of it. Each code is run through the whole of grading."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from grader.course.folder import Course
from grader.facts import definitions
from grader.facts.code_facts import facts_of, variables_of
from grader.facts.student_text import MAX_SOURCE
from grader.host.grading import grade_notebook
from grader.model.fact import Fact, FactKind
from grader.model.verdict import Verdict
from support.our_course import EXERCISES, OURS
from support.solution_cells import from_notebook

NONE = frozenset[str]()


def facts(source: str, entry: str = "f", variables: frozenset[str] = NONE) -> tuple[Fact, ...]:
    """Without the names of arguments, which every code has."""
    found = facts_of(source, entry, ("__init__", "forward"), variables)
    return tuple(fact for fact in found if fact.kind != FactKind.ARGUMENTS)


@pytest.mark.parametrize(
    ("source", "kind", "what"),
    [
        ("def f(x):\n    return x / D ** 0.5", FactKind.BORROWED, "D"),
        ("def f(x):\n    return [y / D for y in x]", FactKind.BORROWED, "D"),
        ("def f(x):\n    def g(y):\n        return y / D\n    return g(x)", FactKind.BORROWED, "D"),
        ("def f(x):\n    x.masked_fill(x > 0, 0)\n    return x", FactKind.LOST, "x.masked_fill(x > 0, 0)"),
        ("def f(x):\n    torch.softmax(x, 0)\n    return x", FactKind.LOST, "torch.softmax(x, 0)"),
        ("def f(x):\n    x / 2\n    return x", FactKind.LOST, "x / 2"),
        ("def f(x):\n    x.add(2)\n    return x", FactKind.LOST, "x.add(2)"),
        ("def f(x):\n    softmax(x)\n    return x", FactKind.LOST, "softmax(x)"),
        ("class f:\n    def __init__(self):\n        self.mine = nn.Dropout(0.1)\n"
         "    def forward(self, x):\n        self.mine(x)\n        return x", FactKind.LOST, "self.mine(x)"),
        ("def f(x, d=D ** 0.5):\n    return x / d", FactKind.BORROWED, "D"),
        ("def f(x):\n    y = x.softmax(0)\n    return x", FactKind.UNUSED, "y"),
        ("def f(x):\n    y = x @ x\n    return x", FactKind.UNUSED, "y"),
        ("def f(x):\n    assert (len(x) % 2 == 0, 'odd')\n    return x", FactKind.ALWAYS_TRUE,
         "assert (len(x) % 2 == 0, 'odd')"),
        ("def f(x):\n    for y in x:\n        return y * 2", FactKind.LEFT_EARLY, "return y * 2"),
        ("def f(x):\n    return x + torch.inf * x", FactKind.INFINITE, "return x + torch.inf * x"),
        ("def f(x):\n    return x - float('inf')", FactKind.INFINITE, "return x - float('inf')"),
        ("class f:\n    def __init__(self):\n        self.out = nn.Linear(2, 2)\n    def forward(self):\n        pass",
         FactKind.NEVER_CALLED, "self.out"),
        ("class f:\n    def __init__(self, d):\n        W = torch.rand(d, d)\n"
         "    def forward(self, x):\n        return x @ W", FactKind.NOT_OF_SELF, "W"),
        ("class f:\n    def forward(self, x):\n        return nn.Linear(2, 2)(x)", FactKind.MADE_ANEW,
         "return nn.Linear(2, 2)(x)"),
        ("def f(x):\n    y = torch.empty(2)\n    return y + x", FactKind.EMPTY, "y = torch.empty(2)"),
        ("class f:\n    def forward(self, x):\n        y = torch.empty_like(x)\n        return y", FactKind.EMPTY,
         "y = torch.empty_like(x)"),
        ("def f(x):\n    x + 1", FactKind.NO_RETURN, "f"),
        ("class f:\n    def forward(self, x):\n        y = x @ x", FactKind.NO_RETURN, "forward"),
        ("class f:\n    def mix(self, x):\n        x.exp()\n        return x\n    def forward(self, x):\n"
         "        return self.mix(x)", FactKind.LOST, "x.exp()"),
        ("def mix(x):\n    y = x.exp()\n    return x\ndef f(x):\n    return mix(x)", FactKind.UNUSED, "y"),
        ("def f(x):\n    y = torch.randn(3)\n    return x + y", FactKind.RANDOM, "y = torch.randn(3)"),
    ],
)  # fmt: skip
def test_facts_of_source_finds_its_fact(source: str, kind: FactKind, what: str) -> None:
    assert Fact(kind, what) in facts(source, variables=frozenset({"D"}))


@pytest.mark.parametrize(
    "source",
    [
        "class f(Base):\n    def __init__(self):\n        self.W = nn.Linear(2, 2)",
        "class f:\n    def __init__(self):\n        self.W = nn.Linear(2, 2)\n"
        "    def forward(self, x): return used(self, x)",
        "class f:\n    def __init__(self):\n        self.W = nn.Linear(2, 2)\n"
        "    def forward(self, x): return self.get_submodule('W')(x)",
    ],
)
def test_never_called_ignores_layers_that_other_code_may_use(source: str) -> None:
    assert FactKind.NEVER_CALLED not in {fact.kind for fact in facts(source)}


@pytest.mark.parametrize(
    "source",
    [
        "class State:\n    def add(self, k): self.k += k\ndef f(x):\n    s = State()\n    s.add(x)\n    return s.k",
        "class f:\n    def softmax(self, s): s[:] = 0\n"
        "    def forward(self, s):\n        self.softmax(s)\n        return s",
        "def f(model, most):\n    norm = nn.utils.clip_grad_norm_(model.parameters(), most)\n    return 0",
        "def f(x):\n    _ = x + 1\n    return x",
        "class f:\n    def __init__(self):\n        self.mine = Log()\n"
        "    def forward(self, x):\n        self.mine(x)\n        return x",
    ],
)
def test_lost_ignores_calls_with_side_effects(source: str) -> None:
    assert {fact.kind for fact in facts(source)} & {FactKind.LOST, FactKind.UNUSED} == set()


@pytest.mark.parametrize(
    ("step", "name"),
    [
        ("out = y * 2", "out"),
        ("out = [y * 2]", "out"),
        ("out = []\n        out.append(y * 2)", "out"),
        ("z = y * 2\n        out = z + 1", "out"),
        ("out = torch.zeros(3)\n        out += y", "out"),
        ("out = x.clone()\n        if y > 0:\n            out[y] = 0", "out"),
        ("for z in y:\n            out = z * 2", "out"),
        ("out = torch.stack([y * z for z in x])", "out"),
    ],
)
def test_replaced_finds_what_each_step_of_a_loop_makes_anew(step: str, name: str) -> None:
    source = f"def f(x):\n    out = x\n    for y in x:\n        {step}\n    return out"
    assert [fact.parts for fact in facts(source) if fact.kind == FactKind.REPLACED] == [(name,)]


@pytest.mark.parametrize(
    "step",
    [
        "out = out + y",
        "out.append(y)",
        "out[y] = y * 2",
        "z = y * 2\n        out.append(z)",
        "found.append(y)\n        out = torch.stack(found)",  # of all that was found
        "d = y.shape[0]\n        out = d ** 0.5",  # the same in each step
        "if y > 0:\n            out = y * 2",
        "out = y * 2\n        if out > 0:\n            break",
        "z = out @ y\n        out = z",
        "row = []\n        for z in y:\n            row.append(z)\n        out.append(row)",
    ],
)
def test_replaced_ignores_what_a_loop_accumulates(step: str) -> None:
    source = f"def f(x):\n    found, out = [], []\n    for y in x:\n        {step}\n    return out"
    assert [fact for fact in facts(source) if fact.kind in (FactKind.REPLACED, FactKind.LEFT_EARLY)] == []


def test_facts_when_name_is_rebound_after_loop_are_none() -> None:
    assert (
        facts("def f(x):\n    r = []\n    for y in x:\n        z = y * 2\n        r.append(z)\n    z = r\n    return z")
        == ()
    )


def test_facts_of_very_long_loop_are_none() -> None:
    lines = "".join(f"  a{i}=b{i}\n" for i in range(1_500))
    assert facts(f"def f(x):\n for y in x:\n{lines} return y") == ()


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    D = x.shape[0]\n    return x / D",
        "D = 4\ndef f(x):\n    return x / D",  # its own
        "def f(x, D):\n    return x / D",
        "def f(x):\n    return x / math.sqrt(len(x))",
        "def f(x):\n    x.masked_fill_(x > 0, 0)\n    return x",
        "def f(x):\n    out = []\n    out.append(x)\n    out.sort()\n    return out",
        "def f(x):\n    seen = set()\n    seen.add(x)\n    return seen",
        "seen = set()\ndef f(x):\n    seen.add(x)\n    return x",
        "class f:\n    def __init__(self):\n        self.seen = set()\n    def forward(self, x):\n"
        "        self.seen.add(x)\n        return x",
        "def f(x):\n    torch.exp(x, out=x)\n    return x",
        "def f(x):\n    B, T = x.shape\n    N = len(x)\n    return x",
        "def f(x):\n    y = x * 2\n    return [y for _ in x]",
        "def f(x):\n    global y\n    y = x * 2\n    return x",
        "def f(x):\n    y = x * 2\n    return eval('y')",
        "def f(x):\n    assert len(x) % 2 == 0, 'odd'\n    return x",
        "def f(x):\n    raise NotImplementedError",
        "class f:\n    def __init__(self):\n        super().__init__()\n    def forward(self, x):\n        return x",
        "class f:\n    def __init__(self, d):\n        self.register_buffer('mask', d)\n        self.to(d)",
        "class f:\n    def __init__(self):\n        w = torch.empty(2)\n        self.W = nn.Parameter(w)",
        "f = lambda x: x / D",  # no function of which we know the body
        "def g(x):\n    x + 1\ndef f(x):\n    return x",
        "def split(x):\n    x[0] = 1\ndef f(x):\n    split(x)\n    return x",
        "class f:\n    def fill(self):\n        self.W = torch.empty(2)\n    def __init__(self):\n        self.fill()",
        "class f:\n    def old(self, x):\n        x.exp()\n    def forward(self, x):\n        return x",
        "def f(x):\n    x.shape\n    return x",
        "class f:\n    def __init__(self, d):\n        self.b = nn.Parameter(torch.Tensor(d))",
        "def f(x):\n    return x / torch.Tensor([len(x)]).sqrt() + torch.Tensor([y for y in x])",
    ],
)
def test_facts_of_right_code_are_none(source: str) -> None:
    assert facts(source, variables=frozenset({"D"}) - variables_of(source)) == ()


@pytest.mark.parametrize(
    ("source", "function", "names"),
    [
        ("def f(x, dim=-1):\n    return x.exp() / x.exp().sum()", "f", ("dim",)),
        ("def f(x, p, training):\n    x = torch.ones(3)\n    return x * p", "f", ("training",)),
        ("class f:\n    def __init__(self, d, dropout):\n        self.W = nn.Linear(d, d)\n"
         "    def forward(self, x):\n        return self.W(x)", "__init__", ("dropout",)),
        ("class f:\n    def forward(self, v, k, mask=None):\n        return v", "forward", ("k", "mask")),
    ],
)  # fmt: skip
def test_unread_finds_arguments_that_are_never_read(source: str, function: str, names: tuple[str, ...]) -> None:
    assert Fact(FactKind.UNREAD, function, names) in facts(source)


@pytest.mark.parametrize(
    "source",
    [
        "def f(x, dim):\n    def rows(y):\n        return y.sum(dim)\n    return rows(x)",
        "def f(x, _mask):\n    return x",
        "def f(x, mask):\n    raise NotImplementedError",
        "def f(x, mask):\n    return locals()",
        "class f(g):\n    def forward(self, x, mask):\n        return super(f, self).forward(*self.seen)",
    ],
)
def test_unread_ignores_arguments_that_may_be_read(source: str) -> None:
    assert [fact for fact in facts(source) if fact.kind == FactKind.UNREAD] == []


@pytest.mark.parametrize(
    "source", ["def f(:", "\0", "(" * 5000, "-" * 15_000 + "1", "def f(x):\n    x + 1\n" + "#" * MAX_SOURCE, "\ud800"]
)
def test_facts_of_unreadable_text_are_none(source: str) -> None:
    assert (facts(source), variables_of(source)) == ((), frozenset())


@pytest.mark.slow
def test_solutions_get_no_sentence_about_facts(right: Callable[[int, str], Verdict]) -> None:
    for number, source in from_notebook().items():
        if number <= LAST:
            assert right(number, source).sentences == ("Right.",)


LAST = 8  # exercise of the first assignment


@pytest.fixture
def right(course: Course, make_notebook: Any, solved: dict[int, str]) -> Callable[[int, str], Verdict]:
    """The verdict on an exercise that is solved so, the others being right."""

    def verdict(number: int, source: str) -> Verdict:
        notebook = make_notebook(course, {**solved, number: source})
        return next(verdict for verdict in grade_notebook(notebook, settings=OURS) if verdict.exercise == number)

    return verdict


def test_definitions_keep_only_variables_that_the_code_mentions(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read is remembered, and a notebook has room for half a million names."""
    asked: list[frozenset[str]] = []

    def no_facts(*of_what: Any) -> tuple[Fact, ...]:
        asked.append(of_what[3])
        return ()

    monkeypatch.setattr(definitions, "facts_of", no_facts)
    noted = definitions.Definitions()
    for source in ("rate = a = b = 0", "(c, d) = x = 1, 2", "def softmax(items):\n    return items * rate + x.a"):
        noted.note(source)
    noted.facts(EXERCISES[3])
    assert asked == [{"rate", "x"}]


ADDED_TO = """
def f(x):
    table = torch.empty(len(x), 2)
    total = torch.empty(2)
    for i, row in enumerate(x):
        table[i] = row
        total += row
    return table, total
"""


def test_empty_finds_tensors_that_are_only_added_to() -> None:
    assert [fact.what for fact in facts(ADDED_TO) if fact.kind == FactKind.EMPTY] == ["total = torch.empty(2)"]


@pytest.mark.parametrize(
    "body",
    [
        "out[..., 0::2] = x\nout[..., 1::2] = x",
        "out[:, ::2], y = x, x\nout[:, ::2] = x\nout[:, 1::2] = y",
        "for i in range(len(x)):\n    for j, y in enumerate(x):\n        out[i, j] = y",
        "for i in range(len(x)):\n    out[i][0] = x[i]",
        "with torch.no_grad():\n    out[:] = x",
    ],
)
def test_empty_ignores_tensors_whose_entries_are_set(body: str) -> None:
    assert FactKind.EMPTY not in {fact.kind for fact in facts(with_empty(body))}


@pytest.mark.parametrize("body", ["pass", "out[..., 0] += x", "out += x", "other[:] = x"])
def test_empty_finds_tensors_of_which_no_entry_is_set(body: str) -> None:
    assert FactKind.EMPTY in {fact.kind for fact in facts(with_empty(body))}


def with_empty(body: str) -> str:
    return f"def f(x, d):\n    out = torch.empty_like(x)\n{textwrap.indent(body, '    ')}\n    return out"


def test_variable_read_by_another_method_is_not_of_self() -> None:
    source = (
        "class f:\n    def __init__(self):\n        W = torch.rand(2)\n    def forward(self, x):\n        return x * W"
    )
    assert [fact.kind for fact in facts(source) if fact.what == "W"] == [FactKind.NOT_OF_SELF]
