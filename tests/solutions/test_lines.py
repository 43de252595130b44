"""A solution as people write it, with other lines in place of marked ones."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
import torch

from grader.model.misconception import at, wrong
from grader.solutions.lines import Change, LineError, Lines
from grader.solutions.statements import WrittenFunction

TEXT = """\
def share(x, by=2):  #: arguments
    # what is above the line
    top = x + by  # (n,)  #: top
    if by > 3:  #: large
        top = top * 2
    low = top.sum()  #: low
    low = low + 1  #: low
    return top / low  #: result
"""
LINES = Lines(TEXT)
PLAIN = (
    TEXT.replace("  #: arguments", "")
    .replace("  #: top", "")
    .replace("  #: large", "")
    .replace("  #: low", "")
    .replace("  #: result", "")
)


def plain_with(old: str, new: str) -> str:
    assert PLAIN.count(old) == 1
    return PLAIN.replace(old, new)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, PLAIN),
        ({"top": "top = x"}, plain_with("top = x + by  # (n,)", "top = x")),
        ({"top": ("by", "1")}, plain_with("x + by", "x + 1")),
        ({"arguments": ("2", "3"), "top": "top = x"}, plain_with("x + by  # (n,)", "x").replace("by=2", "by=3")),
        (
            {"after arguments": "x = -x", "before top": "x = 1"},
            plain_with("by=2):\n", "by=2):\n    x = -x\n").replace("    top = x +", "    x = 1\n    top = x +"),
        ),
        ({"large": ""}, plain_with("    if by > 3:\n        top = top * 2\n", "")),
        ({"large": "if by:\n    top = 0"}, plain_with("if by > 3:\n        top = top * 2", "if by:\n        top = 0")),
        ({"large": "if by >= 3:"}, plain_with("if by > 3:", "if by >= 3:")),
        ({"low": "low = 1"}, plain_with("low = top.sum()\n    low = low + 1", "low = 1")),
        ({"low": ("low =", "low  =")}, PLAIN.replace("low =", "low  =")),
        ({"after top": "top = -top"}, plain_with("# (n,)\n", "# (n,)\n    top = -top\n")),
        ({"before result": "low = 2"}, plain_with("    return", "    low = 2\n    return")),
        (
            {"after low": "a = 1", "before result": "b = 2"},
            plain_with("    return", "    a = 1\n    b = 2\n    return"),
        ),
        ({"result": "return 1", "top": "top = 2"}, plain_with("top / low", "1").replace("x + by  # (n,)", "2")),
    ],
)
def test_lines_text_replaces_marked_lines(changes: dict[str, Change], text: str) -> None:
    assert LINES.text(changes) == text


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"bottom": "low = 1"}, "there is no mark “bottom”. There are: arguments, top, large, low, result"),
        ({"inside top": "low = 1"}, "there is no mark “inside top”"),
        ({"top": ("low", "1")}, "“low” does not stand in “top = x + by  # (n,)”"),
        ({"low": ("low", "1")}, "“low” stands 2 times in “low = low + 1”"),
        ({"result": "return top /"}, "with its lines, the solution is not Python: return top /"),
        ({"result": "return tops / low"}, "its lines read `tops`, which nothing binds"),
        ({"top": "tops = x + by"}, "its lines bind `tops`, which nothing reads"),
        ({"result": "return"}, "a line of it has no effect"),
        ({"after top": "top / 2"}, "a line of it has no effect"),
    ],
)
def test_lines_that_cannot_be_a_solution_are_refused(changes: dict[str, Change], said: str) -> None:
    with pytest.raises(LineError) as error:
        LINES.checked(changes, file_names=())
    assert said in str(error.value)


LOOPS = """\
def f(rows):
    total = 0
    for row in rows:  #: rows
        # each
        for entry in row:  #: entries
            total += entry  #: add
    return total
"""


@pytest.mark.parametrize(
    ("changes", "returned"),
    [
        ({"rows": "for row in rows[1:]:"}, 7),
        ({"entries": "for entry in row[:1]:"}, 4),
        ({"rows": "for row in rows[1:]:", "entries": "for entry in row[:1]:", "add": "total -= entry"}, -3),
        ({"rows": ("in rows", "in rows[:1]")}, 3),
        ({"rows": "for row in rows[1:]:\n    total += 1"}, 1),
    ],
)
def test_lines_with_another_loop_head_keep_the_body(changes: dict[str, Change], returned: int) -> None:
    lines = Lines(LOOPS)
    lines.checked(changes, file_names=())
    assert lines.version(changes, {})([[1, 2], [3, 4]]) == returned


@pytest.mark.parametrize("line", ["top = abs(x) + known", "print(x)", "top = [y for y in x]"])
def test_builtins_what_the_file_defines_and_what_a_line_binds_may_be_read(line: str) -> None:
    assert line in LINES.checked({"before low": line}, file_names={"known"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def f(x):\n    y = x  #: one\n    z = y\n    return z  #: one\n", "the mark “one” stands in two places"),
        ("#: one\ndef f(x):\n    return x\n", "the mark “one” stands at no statement"),
    ],
)
def test_marks_that_name_nothing_are_refused(text: str, said: str) -> None:
    with pytest.raises(LineError, match=said):
        Lines(text)


def doubled(x: Any) -> Any:
    twice = 2 * x  #: twice
    twice = twice + 1  #: more
    return torch.as_tensor(twice)  #: result


def test_written_function_answers_with_changed_lines() -> None:
    written = WrittenFunction(doubled)
    assert written(3) == 7
    assert written(3, twice="twice = 3 * x", **{"after twice": "twice = twice + 1"}) == 11
    assert written(3, result=("twice", "x")) == 3
    assert written(3) == 7
    assert inspect.unwrap(written) is doubled


def table(rows: Any, columns: Any) -> Any:
    products = [[row * column for column in columns] for row in rows]  #: products
    return list(products)  #: result


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("products = [[row + column for column in columns] for row in rows]", [[4, 5], [5, 6]]),
        ("products = []\nfor row in rows:\n    products.append([row for _ in columns])", [[1, 1], [2, 2]]),
        ("if len(rows) == 2:\n    return columns\nproducts = rows", [3, 4]),
    ],
)
def test_written_function_scopes_names_and_ends_at_return(line: str, wanted: Any) -> None:
    assert WrittenFunction(table)([1, 2], [3, 4], products=line) == wanted


def chosen(x: Any, large: Any) -> Any:
    if large:
        factor = 10  #: factor
        x = factor * x
    y = x + 1  #: y
    return abs(y)  #: result


def test_name_that_is_bound_in_one_branch_may_be_read_there() -> None:
    written = WrittenFunction(chosen)
    assert [written(2, large, y="y = x - factor if large else x") for large in (True, False)] == [10, 2]
    with pytest.raises(TypeError):
        written(2, False, y="y = x - factor")


def test_changes_within_replaced_lines_have_no_effect() -> None:
    assert LINES.text({"large": "top = 3", "after large": "top = 4"}).count("top = ") == 3


def test_several_parts_of_a_line_are_replaced() -> None:
    assert LINES.text({"top": ("x", "1", "by", "2")}) == plain_with("top = x + by", "top = 1 + 2")


def test_mistakes_of_one_line_are_written_below_its_mark() -> None:
    one, two = at(
        "twice",
        wrong("three times", "twice = 3 * x", "Three times."),
        wrong("both", "twice = x", "Both.", also={"result": "return twice"}, credit=0.25),
    )
    assert (one.change, one.credit) == ({"twice": "twice = 3 * x"}, 0.5)
    assert (two.change, two.credit) == ({"twice": "twice = x", "result": "return twice"}, 0.25)
