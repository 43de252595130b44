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
MAX_SHORT = 5  # outputs; the first one decides
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


def score_of(outputs: Sequence[NotebookNode], most: float) -> float:
    """The points that nbgrader gives; raises ValueError where it would refuse."""
    marks = {"grade": True, "solution": False, "points": most, "grade_id": "test"}
    from nbgrader.utils import determine_grade  # it brings all of nbgrader, which takes a second

    cell = nbformat.from_dict({"cell_type": "code", "metadata": {"nbgrader": marks}, "outputs": list(outputs)})
    try:
        points, _ = determine_grade(cell)
    except KeyError as error:
        raise ValueError from error
    return float(points)


def countable(outputs: Sequence[NotebookNode], failure: Failure | None, unheard: str) -> list[NotebookNode]:
    """Outputs from which nbgrader reads the right points. An error counts even if the code hid it."""
    kept = [_as_stdout(output) for output in outputs if not _is_unheard(output, unheard)]
    if failure and not any(output["output_type"] == "error" for output in kept):
        text = f"{failure.kind}: {failure.message}"
        kept.append(nbformat.v4.new_output("error", ename=failure.kind, evalue=failure.message, traceback=[text]))
    return kept


def _is_unheard(output: NotebookNode, pattern: str) -> bool:
    return bool(pattern and output.get("name") == "stderr" and re.search(pattern, output["text"]))


def _as_stdout(output: NotebookNode) -> NotebookNode:
    """Move our notice that output is left out to stdout: it is not a failure."""
    is_notice = output.get("name") == "stderr" and output["text"] == NOTICE
    return nbformat.from_dict({**output, "name": "stdout"}) if is_notice else output


def within_bounds(outputs: Sequence[NotebookNode], most: float) -> list[NotebookNode]:
    """Where nbgrader would refuse a test's value, only show it, so that all points are given."""
    try:
        score_of(outputs, most)
    except ValueError:
        return [_only_shown(output) for output in outputs]
    return list(outputs)


def in_short(outputs: Sequence[NotebookNode]) -> list[NotebookNode]:
    """The outputs that decide about points, for a notebook that has shown far too much."""
    short = []
    for output in outputs:
        if output["output_type"] == "error":
            name, text = output["ename"][:MAX_LINE], output["evalue"][:MAX_LINE]
            short.append(nbformat.v4.new_output("error", ename=name, evalue=text, traceback=[f"{name}: {text}"]))
        elif output.get("name") == "stderr":
            short.append(nbformat.v4.new_output("stream", name="stderr", text=output["text"][:MAX_LINE]))
        elif output["output_type"] == "execute_result":
            text = output["data"].get("text/plain", "")
            data = {"text/plain": text if len(text) <= MAX_LATE_RESULT else "…"}
            short.append(nbformat.v4.new_output("execute_result", data=data))
    return short[:MAX_SHORT]


def _only_shown(output: NotebookNode) -> NotebookNode:
    if output["output_type"] != "execute_result":
        return output
    return nbformat.from_dict({"output_type": "display_data", "data": output["data"], "metadata": output["metadata"]})


def judge_test(
    test: Test,
    outputs: Sequence[NotebookNode],
    failure: Failure | None = None,
    lost: Lost | None = None,
    *,
    trusted: bool = True,
    changed: Sequence[str] = (),
) -> tuple[list[NotebookNode], Verdict]:
    """Bring `countable` outputs within bounds, and give the verdict on them.

    If the process is not `trusted`, the student does not see its messages.
    """
    kept = within_bounds(outputs, test.points)
    points = score_of(kept, test.points)
    failed = any(output["output_type"] == "error" or output.get("name") == "stderr" for output in kept)
    credit = points / test.points if test.points else float(not failed)
    sentences = [sentence_of(lost)] if lost else [_sentence(test, failure, trusted)] if failure else []
    if failed and not sentences:
        sentences = [_STDERR]
    if kept != list(outputs):
        sentences.append(_TOO_MUCH)
    if 0 < credit < 1 or (not failed and credit == 0):
        sentences.append(f"The test gives {points:g} of {test.points:g} points.")
    if changed:
        names = ", ".join(f"`{_plain(name)}`" for name in changed)
        sentences.append(
            f"The test was run with {names} from Python and its libraries, not as changed in this notebook."
        )
    reason = Reason.NO_ANSWER if lost else Reason.RIGHT if credit == 1 else Reason.TEST_FAILED
    return kept, Verdict(None, test.name, credit, reason, tuple(sentences), lost=lost, in_process=True)


def _sentence(test: Test, failure: Failure, trusted: bool) -> str:
    asserts = failure.kind == "AssertionError"
    if failure.line and failure.line not in test.visible:
        return _HIDDEN if asserts else f"{_HIDDEN[:-1]}: the code stops with `{_kind(failure.kind)}`."
    shown, message = _statement(test, failure.line)
    if message is None:
        message = failure.message if trusted else ""
    what = f"The test `{_plain(shown)}`" if shown else "The test"
    if failure.kind == "NotImplementedError" and not failure.message:
        return f"{what} {_TO_DO}"
    how = "fails" if asserts else f"stops with `{_kind(failure.kind)}`"
    return f"{what} {how}{f': {_plain(message)}' if message else '.'}"


def _kind(name: str) -> str:
    """The name of one of Python's own errors; students choose other names."""
    kind = vars(builtins).get(name)
    return name if isinstance(kind, type) and issubclass(kind, BaseException) else "an error of its own kind"


def _plain(text: str) -> str:
    return one_line(text.replace("`", "'"), 2 * MAX_LINE)


def _statement(test: Test, line: int) -> tuple[str, str | None]:
    """The statement at a line, as far as students have it, and its message if that is plain text."""
    tree = parsed(test.source)
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)] if tree else []
    inside = [node for node in statements if node.lineno <= line <= (node.end_lineno or node.lineno)]
    if not inside:
        return "", None
    node = max(inside, key=lambda each: each.lineno)
    lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
    whole = all(number in test.visible for number in lines)
    text = " ".join(part.strip() for part in test.source.split("\n")[lines[0] - 1 : lines[-1]])
    if not whole or len(text) > MAX_LINE:
        text = test.source.split("\n")[line - 1].strip()[:MAX_LINE] + " …"
    message = node.msg if whole and isinstance(node, ast.Assert) else None
    return text, message.value if isinstance(message, ast.Constant) and isinstance(message.value, str) else None
