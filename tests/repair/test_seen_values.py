"""What expressions are while a case is answered, which says where a change makes sense. Students may say anything."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest
import torch

from grader.facts.student_text import StudentText
from grader.model.answer import Answer, Raised, Returned
from grader.repair.edits import edits_of, makes_sense, steps_of
from grader.repair.seen_values import UNREACHED, Seen, asking, asking_before, fit_together, seen_before, seen_in

AS_IT_IS = Returned(1.0, [])

SOURCE = """
def f(x, scale, unused):
    size = len(x)
    y = x + 1
    return y
"""


def answer_to(written: str, x: object) -> Answer:
    """As the sandbox answers for a version that stops with an error."""
    try:
        return Returned(eval(written, {"torch": torch, "x": x}), [])
    except Exception as error:
        return Raised(type(error).__name__, str(error))


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        (torch.zeros(2, 3), Seen("Tensor", (2, 3), "float32")),
        (torch.zeros(()), Seen("Tensor", (), "float32")),
        (torch.zeros(4, dtype=torch.bool), Seen("Tensor", (4,), "bool")),
        (torch.nn.Parameter(torch.zeros(5)), Seen("Parameter", (5,), "float32")),
        (3, Seen("int")),
        ([1, 2], Seen("list")),
        (None, Seen("NoneType")),
        (map(abs, []), Seen("map")),
    ],
)
def test_an_expression_says_what_it_is(value: object, seen: Seen) -> None:
    assert seen_in(answer_to(asking("x"), value), AS_IT_IS) == seen


def test_what_is_never_reached_answers_as_ever() -> None:
    assert seen_in(AS_IT_IS, AS_IT_IS) is UNREACHED


def test_where_code_stops_is_known() -> None:
    error = answer_to("x.nothing", 3)
    assert seen_in(error, error) is None  # of what is asked for, or of what comes before
    assert seen_before(error, error) is UNREACHED
    assert seen_before(answer_to(asking_before(), 3), error) == Seen("error")


@pytest.mark.parametrize(
    "answer",
    [
        Raised("KeyError", "('Tensor', torch.Size([1, 2]), None) and more"),
        Raised("KeyError", "('" + "T" * 100 + "', None, None)"),
        Raised("KeyError", "('Tensor', torch.Size([" + "1, " * 100 + "]), torch.float32)"),
        Raised("KeyError", "('Tensor', torch.Size([x]), torch.float32)"),
        Raised("ValueError", "('int', None, None)"),
        Raised("KeyError", ""),
        Returned(2.0, []),
    ],
)
def test_whatever_else_is_said_says_nothing(answer: Answer) -> None:
    assert seen_in(answer, AS_IT_IS) is None


def test_steps_fit_what_they_are_done_to() -> None:
    text = StudentText(SOURCE)
    kinds: dict[str, Seen] = {"x": Seen("Tensor", (3, 4), "float32"), "len(x)": Seen("int"), "x + 1": UNREACHED}
    found = spans(text, kinds.get)
    steps = [edit.splices[0].text for edit in steps_of(text, found)]
    assert "(x).transpose(-2, -1)" in steps
    assert "(x).transpose(1, 2)" not in steps  # it has two axes
    assert not any("(len(x))." in step for step in steps)  # a number has none
    assert not any("(x + 1)" in step for step in steps)
    assert len(steps) < len(steps_of(text, {}))
    changed = [edit for edit in edits_of(text) if not makes_sense(edit, found)]
    assert {text.bytes[slice(*edit.splices[0][:2])] for edit in changed} >= {b"x + 1"}


def spans(text: StudentText, seen: Callable[[str], Seen | None]) -> dict[tuple[int, int], Seen]:
    (function, _), *_ = text.functions
    nodes = [node for node in ast.walk(function) if isinstance(node, ast.expr)]
    return {text.span(node): now for node in nodes if (now := seen(text.of(node))) is not None}


def test_what_nobody_reads_is_tried_first() -> None:
    edits = [edit for edit in edits_of(StudentText(SOURCE)) if edit.cost == 1]
    names = [edit.splices[0].text for edit in edits if edit.likely]
    assert set(names) == {"scale", "unused", "size"}
    assert [edit.likely for edit in edits] == sorted((edit.likely for edit in edits), reverse=True)


def test_what_does_not_fit_together() -> None:
    words, scores = Seen("Tensor", (3, 4), "float32"), Seen("Tensor", (3, 3), "float32")
    assert fit_together(words, Seen("Tensor", (4,), "float32"))
    assert fit_together(words, Seen("int"))
    assert not fit_together(words, scores)
