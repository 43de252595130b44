"""The points of an ordinary nbgrader test, counted as nbgrader does, and a sentence on it.

The test ran in the student's process, which could make up the result: points stay between 0 and what the cell is
worth, and the student sees no text of a process that has seen a hidden test.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import nbformat
from nbformat import NotebookNode

from grader.model.answer import Lost, sentence_of
from grader.model.ordinary import parsed
from grader.model.verdict import Reason, Verdict
from grader.sandbox.cell_outputs import MAX_LATE_RESULT, NOTICE
from grader.sandbox.plain_text import one_line

MAX_LINE = 200  # characters of a test that are shown
MAX_OUTPUTS = 5  # where a notebook has shown far too much; the first one decides
_HIDDEN = "A hidden test fails."
_TO_DO = "stops with `NotImplementedError`: what it tests is still to be written, or still has that line."
_STDERR = (
    "While the test ran, something was written to the error stream, such as a warning: nbgrader gives no points then."
)
_TOO_MUCH = (
    "The test gives more points than the cell is worth. You get all points of the cell; nbgrader would refuse to grade."
)


@dataclass(frozen=True)
class Failure:
    """The error that ended a test, as the process reports it."""

    kind: str
    message: str
    line: int


@dataclass(frozen=True)
class Test:
    """An ordinary test, in the course's own version."""

    name: str
    source: str
    points: float
    visible: Collection[int]  # lines that students have, too

    __test__ = False  # or pytest collects it


def points_for(outputs: Sequence[NotebookNode], max_points: float) -> float:
    """The points that nbgrader gives; raises ValueError where it would refuse."""
    from nbgrader.utils import determine_grade  # it brings all of nbgrader, which takes a second

    metadata = {"nbgrader": {"grade": True, "solution": False, "points": max_points, "grade_id": "test"}}
    cell = nbformat.from_dict({"cell_type": "code", "metadata": metadata, "outputs": list(outputs)})
    try:
        points, _ = determine_grade(cell)
    except KeyError as error:
        raise ValueError from error
    return float(points)


def countable_outputs(
    outputs: Sequence[NotebookNode], failure: Failure | None, ignored_pattern: str
) -> list[NotebookNode]:
    """Outputs from which nbgrader reads the right points. An error counts even if the code hid it.

    `ignored_pattern` is what a test may write to the error stream for nothing.
    """
    countable: list[NotebookNode] = []
    for output in outputs:
        is_stderr = output.get("name") == "stderr"
        if is_stderr and ignored_pattern and re.search(ignored_pattern, output["text"]):
            continue
        if is_stderr and output["text"] == NOTICE:  # our own, that output is left out, is no failure
            output = nbformat.from_dict({**output, "name": "stdout"})
        countable.append(output)
    if failure and not any(output["output_type"] == "error" for output in countable):
        text = f"{failure.kind}: {failure.message}"
        error = nbformat.v4.new_output("error", ename=failure.kind, evalue=failure.message, traceback=[text])
        countable.append(error)
    return countable


def bound_outputs(outputs: Sequence[NotebookNode], max_points: float) -> list[NotebookNode]:
    """Where nbgrader would refuse a test's value, only show it, so that all points are given."""
    try:
        points_for(outputs, max_points)
    except ValueError:
        return [_only_shown(output) for output in outputs]
    return list(outputs)


def _only_shown(output: NotebookNode) -> NotebookNode:
    if output["output_type"] != "execute_result":
        return output
    return nbformat.from_dict({"output_type": "display_data", "data": output["data"], "metadata": output["metadata"]})


def shorten_outputs(outputs: Sequence[NotebookNode]) -> list[NotebookNode]:
    """The outputs that decide about points, for a notebook that has shown far too much."""
    shortened: list[NotebookNode] = []
    for output in outputs:
        if output["output_type"] == "error":
            name, text = output["ename"][:MAX_LINE], output["evalue"][:MAX_LINE]
            error = nbformat.v4.new_output("error", ename=name, evalue=text, traceback=[f"{name}: {text}"])
            shortened.append(error)
        elif output.get("name") == "stderr":
            shortened.append(nbformat.v4.new_output("stream", name="stderr", text=output["text"][:MAX_LINE]))
        elif output["output_type"] == "execute_result":
            text = output["data"].get("text/plain", "")
            data = {"text/plain": text if len(text) <= MAX_LATE_RESULT else "…"}
            shortened.append(nbformat.v4.new_output("execute_result", data=data))
    return shortened[:MAX_OUTPUTS]


def judge_test(
    test: Test,
    outputs: Sequence[NotebookNode],
    failure: Failure | None = None,
    lost: Lost | None = None,
    *,
    trusted: bool = True,
    changed: Sequence[str] = (),
) -> tuple[list[NotebookNode], Verdict]:
    """Bring countable outputs within bounds, and give the verdict on them.

    If the process is not `trusted`, the student does not see its messages.
    """
    bounded = bound_outputs(outputs, test.points)
    points = points_for(bounded, test.points)
    has_failed = any(output["output_type"] == "error" or output.get("name") == "stderr" for output in bounded)
    credit = points / test.points if test.points else float(not has_failed)
    sentences: list[str] = []
    if lost:
        sentences.append(sentence_of(lost))
    elif failure:
        sentences.append(_describe_failure(test, failure, trusted))
    elif has_failed:
        sentences.append(_STDERR)
    if bounded != list(outputs):
        sentences.append(_TOO_MUCH)
    if 0 < credit < 1 or (not has_failed and credit == 0):
        sentences.append(f"The test gives {points:g} of {test.points:g} points.")
    if changed:
        names = ", ".join(f"`{_plain(name)}`" for name in changed)
        sentences.append(
            f"The test was run with {names} from Python and its libraries, not as changed in this notebook."
        )
    reason = Reason.RIGHT if credit == 1 else Reason.TEST_FAILED
    if lost:
        reason = Reason.NO_ANSWER
    return bounded, Verdict(None, test.name, credit, reason, tuple(sentences), lost=lost, in_process=True)


def _describe_failure(test: Test, failure: Failure, trusted: bool) -> str:
    is_assertion = failure.kind == "AssertionError"
    error_name = _error_name(failure.kind)
    if failure.line and failure.line not in test.visible:
        return _HIDDEN if is_assertion else f"{_HIDDEN[:-1]}: the code stops with `{error_name}`."
    statement, message = _visible_statement(test, failure.line)
    if message is None:
        message = failure.message if trusted else ""
    subject = f"The test `{_plain(statement)}`" if statement else "The test"
    if failure.kind == "NotImplementedError" and not failure.message:
        return f"{subject} {_TO_DO}"
    verb = "fails" if is_assertion else f"stops with `{error_name}`"
    return f"{subject} {verb}: {_plain(message)}" if message else f"{subject} {verb}."


def _error_name(name: str) -> str:
    """The name of one of Python's own errors; students choose other names."""
    error_type = vars(builtins).get(name)
    if isinstance(error_type, type) and issubclass(error_type, BaseException):
        return name
    return "an error of its own kind"


def _plain(text: str) -> str:
    return one_line(text.replace("`", "'"), 2 * MAX_LINE)


def _visible_statement(test: Test, line: int) -> tuple[str, str | None]:
    """The statement at a line, as far as students have it, and its message if that is plain text."""
    tree = parsed(test.source)
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)] if tree else []
    enclosing = [node for node in statements if node.lineno <= line <= (node.end_lineno or node.lineno)]
    if not enclosing:
        return "", None
    statement = max(enclosing, key=lambda node: node.lineno)
    source_lines = test.source.split("\n")
    line_numbers = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
    is_whole = all(number in test.visible for number in line_numbers)
    text = " ".join(source_lines[number - 1].strip() for number in line_numbers)
    if not is_whole or len(text) > MAX_LINE:
        text = source_lines[line - 1].strip()[:MAX_LINE] + " …"
    if is_whole and isinstance(statement, ast.Assert):
        match statement.msg:
            case ast.Constant(value=str(message)):
                return text, message
    return text, None
