"""The result of one submission from a worker on another machine: JSON, and nothing in it is trusted.

The main process knows the student, the cells and their points. From the result it builds the graded notebook anew, out
of texts, verdicts and outputs of known kinds; anything else is not a result.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from types import NoneType

import nbformat
from nbformat import NotebookNode

from grader.judging.ordinary_scores import score_of, within_bounds
from grader.model import untrusted
from grader.model.answer import Lost
from grader.model.submission import Assignment, Graded, GradedNotebook, KnownCell, KnownNotebook, Submission
from grader.model.verdict import Reason, Scored, Verdict
from grader.notebooks.cells import METADATA_KEY, NOTES, STOPPED, exercise_of, is_test_cell, new_cell, ours
from grader.notebooks.outputs import rebuild_again
from grader.notebooks.parsing import CELL_ID, MAX_CELLS, MAX_SOURCE
from grader.notebooks.repair import nbgrader_metadata
from grader.notebooks.safe_html import safe_texts
from grader.notebooks.verdict_cells import (
    BLOCKED_KEY,
    blocked_output,
    denied_in,
    results_of,
    together,
    verdict_output,
    verdict_outputs,
    verdicts_of,
)
from grader.sandbox.plain_text import one_line

MAX_BYTES = 100 * 2**20  # outputs have at most 20 MB, but escapes in JSON add to that

_COMMENTS = (None, "No response.")  # all comments that nbgrader itself makes


class NoResult(Exception):
    """The data is not a result of this submission; the text says why."""


def pack(graded: Graded) -> bytes:
    """Turn a result into bytes, without its verdicts: those are in the notebooks."""
    notebooks = {name: asdict(notebook) for name, notebook in graded.notebooks.items()}
    return json.dumps({"student": graded.student, "notebooks": notebooks, "error": graded.error}).encode()


def unpack(content: object, submission: Submission, assignment: Assignment) -> Graded:
    """Read the result of this submission. NoResult is raised if it is not one."""
    data = read_json(content)
    if data.get("student") != submission.student:
        raise NoResult("it is for another student")
    if isinstance(error := data.get("error"), str) and error:
        return submission.result(one_line(error, 1000))
    graded = submission.result()
    said = _object(data.get("notebooks"), "its list of notebooks")
    results = []
    for known in assignment.notebooks:
        if known.name in submission.notebooks:
            results.append(_unpack(_object(said.get(known.name), "a notebook"), known, graded))
        else:
            graded.notebooks[known.name], verdicts = missing_notebook(known)
            results.append((verdicts, []))
    graded.verdicts, graded.blocked = together(results)
    return graded


def _unpack(data: Mapping[str, object], known: KnownNotebook, graded: Graded) -> tuple[list[Scored], list[str]]:
    notebook = _notebook(data.get("text"), known)
    scores = _scores(data.get("scores"), notebook, known.known)
    comments = _comments(data.get("comments"), known.known)
    graded.notebooks[known.name] = GradedNotebook(as_text(notebook), scores, comments)
    return results_of(notebook)


def as_text(notebook: NotebookNode) -> str:
    """The text of a notebook, as nbconvert writes it."""
    text: str = nbformat.writes(notebook)
    return text if text.endswith("\n") else f"{text}\n"


def missing_notebook(known: KnownNotebook) -> tuple[GradedNotebook, list[Scored]]:
    """The result for a missing notebook: as in nbgrader, it earns nothing, and nobody has to look at it."""
    why = f"The notebook {known.name}.ipynb was not submitted."
    earning = [cell for cell in known.known if cell.grade or cell.task]
    tests = [cell for cell in earning if cell.cell_type == "code" and not cell.solution and not cell.task]
    verdicts = [Verdict(exercise_of(cell.grade_id), cell.grade_id, 0.0, Reason.MISSING, (why,)) for cell in tests]
    scored = [Scored(verdict, cell.points) for verdict, cell in zip(verdicts, tests, strict=True)]
    return GradedNotebook(scores={cell.grade_id: 0.0 for cell in earning}), scored


def read_json(content: object) -> Mapping[str, object]:
    """Read a JSON object from bytes."""
    if not isinstance(content, (bytes, bytearray, memoryview)):
        raise NoResult("it is not bytes")
    if len(content) > MAX_BYTES:
        raise NoResult(f"it has more than {MAX_BYTES // 2**20} MB")
    try:
        data = json.loads(bytes(content))
    except (ValueError, RecursionError) as error:
        raise NoResult("it is not JSON") from error
    return _object(data, "it")


def _object(value: object, what: str) -> Mapping[str, object]:
    if not untrusted.is_object(value):
        raise NoResult(f"{what} has the wrong type")
    return value


def _notebook(text: object, assignment: KnownNotebook) -> NotebookNode:
    data = read_json(text.encode("utf-8", "replace") if isinstance(text, str) else text)
    cells = data.get("cells")
    if not isinstance(cells, list) or len(cells) > MAX_CELLS + len(assignment.known) + 1:
        raise NoResult("its notebook has no cells, or too many")
    known = {cell.grade_id: cell for cell in assignment.known}
    built = [_cell(_object(cell, "a cell"), known) for cell in cells]
    _must_be_once([_name(cell) for cell in built], assignment.known)
    if len({cell["id"] for cell in built}) < len(built):
        raise NoResult("some of its cells have the same id")
    if sum(len(cell.source) for cell in built) > MAX_SOURCE + sum(len(cell.source) for cell in assignment.known):
        raise NoResult("its cells have too much text")
    kernelspec = json.loads(assignment.kernelspec or "null")
    metadata = {"kernelspec": kernelspec} if kernelspec else {}
    notebook = nbformat.from_dict({"cells": built, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})
    safe_texts(notebook)
    return notebook


def _must_be_once(names: Sequence[str], known: Sequence[KnownCell]) -> None:
    """Check that all given cells are there once and in order; cells that students write may be missing."""
    found = [name for name in names if name]
    there = set(found)
    if found != [cell.grade_id for cell in known if cell.grade_id in there or cell.given or cell.grade]:
        raise NoResult("its cells do not match the assignment")


def _cell(data: Mapping[str, object], known: Mapping[str, KnownCell]) -> NotebookNode:
    identity, kind = data.get("id"), data.get("cell_type")
    if not isinstance(identity, str) or not CELL_ID.fullmatch(identity) or kind not in ("code", "markdown", "raw"):
        raise NoResult("a cell has an unknown type")
    cell = new_cell(kind, _joined(data.get("source")), identity, _told(ours(data)))
    original = _known(data, known)
    if original is not None:
        if kind != original.cell_type or (original.given and cell.source != original.source):
            raise NoResult(f"the cell {original.grade_id} was changed")
        cell.metadata["nbgrader"] = nbformat.from_dict({**nbgrader_metadata(original), "checksum": original.checksum})
    if kind == "code":
        cell.execution_count = untrusted.count(data.get("execution_count")) or None
        cell.outputs = _outputs(data, cell, original)
    return cell


def _known(data: Mapping[str, object], known: Mapping[str, KnownCell]) -> KnownCell | None:
    """The assignment's cell that this one claims to be; None if the student has added it."""
    metadata = data.get("metadata")
    nbgrader = metadata.get("nbgrader") if untrusted.is_object(metadata) else None
    if nbgrader is None:
        return None
    name = nbgrader.get("grade_id") if untrusted.is_object(nbgrader) else None
    if not isinstance(name, str) or name not in known:
        raise NoResult("it has a cell that is not in the assignment")
    return known[name]


def _joined(source: object) -> str:
    """The source of a cell as one text; in a file it is a list of lines."""
    lines = source if isinstance(source, list) else [source]
    texts = [line for line in lines if isinstance(line, str)]
    if len(texts) < len(lines):
        raise NoResult("the source of a cell is not text")
    return "".join(texts).encode("utf-8", "replace").decode()


def _told(said: Mapping[str, object]) -> dict[str, object]:
    """Our own metadata for a cell, checked and built anew."""
    lost, notes = Lost.from_json(said.get(STOPPED)), untrusted.texts(said.get(NOTES), MAX_CELLS)
    told = {**({STOPPED: asdict(lost)} if lost else {}), **({NOTES: list(notes)} if notes else {})}
    return {METADATA_KEY: told} if told else {}


def _outputs(data: Mapping[str, object], cell: NotebookNode, known: KnownCell | None) -> list[NotebookNode]:
    """The outputs of a cell: verdict and notices are made anew, the rest is read like a sandbox's outputs."""
    outputs = data.get("outputs")
    if not isinstance(outputs, list) or not all(map(untrusted.is_object, outputs)):
        raise NoResult("the outputs of a cell have the wrong type")
    notices = [blocked_output(denied) for output in outputs if (denied := denied_in(output))]
    if known is not None and is_test_cell(cell):
        verdict = _scored(outputs, known).verdict
        if not verdict.in_process:
            return [*notices, *verdict_outputs(verdict, known.points)]
        left = rebuild_again([output for output in outputs if not ours(output)])
        return [*notices, verdict_output(verdict, known.points), *within_bounds(left, known.points)]
    return [*rebuild_again([output for output in outputs if BLOCKED_KEY not in ours(output)]), *notices]


def _scored(outputs: Sequence[object], known: KnownCell) -> Scored:
    """The verdict in a test cell; its points must follow from it."""
    found = [(said, scored) for output in outputs if (scored := Scored.from_json(said := ours(output)))]
    if len(found) != 1:
        raise NoResult(f"the cell {known.grade_id} does not have exactly one verdict")
    said, claimed = found[0]
    scored = Scored(claimed.verdict, known.points)
    if (said.get("credit"), said.get("points"), said.get("max_points")) != (
        scored.verdict.credit, scored.points, scored.max_points
    ):  # fmt: skip
        raise NoResult(f"the points for {known.grade_id} do not follow from its verdict")
    return scored


def _scores(data: object, notebook: NotebookNode, known: Sequence[KnownCell]) -> dict[str, float | None]:
    """Check the scores, by cell. A cell for a person has None, or 0 if the student left it unchanged."""
    given, scores = _object(data, "its scores"), dict[str, float | None]()
    if set(given) != {cell.grade_id for cell in known if cell.grade}:
        raise NoResult("its scores are for cells that are not in the assignment")
    earned = {_name(cell): _earned(cell) for cell in notebook.cells if is_test_cell(cell)}
    for name, score in given.items():
        if isinstance(score, bool) or not isinstance(score, (int, float, NoneType)):
            raise NoResult(f"the score of {name} is not a number")
        if score not in ([earned[name]] if name in earned else [None, 0]):
            raise NoResult(f"the score of {name} does not follow from its verdict")
        scores[name] = score
    return scores


def _earned(cell: NotebookNode) -> float:
    """The points of a test, as nbgrader would read them; those of an ordinary test come from its outputs."""
    scored = verdicts_of(cell)[0]
    if not scored.verdict.in_process:
        return scored.points
    points = score_of(cell.outputs, scored.max_points)
    if abs(points - scored.points) > 1e-6:
        raise NoResult(f"the points for {_name(cell)} do not follow from its outputs")
    return points


def _comments(data: object, known: Sequence[KnownCell]) -> dict[str, str | None]:
    given, comments = _object(data, "its comments"), dict[str, str | None]()
    if not given.keys() <= {cell.grade_id for cell in known if cell.solution or cell.task}:
        raise NoResult("its comments are for cells that are not in the assignment")
    for name, comment in given.items():
        if not (comment is None or isinstance(comment, str)) or comment not in _COMMENTS:
            raise NoResult("a comment is not one that nbgrader makes")
        comments[name] = comment
    return comments


def _name(cell: NotebookNode) -> str:
    """The grade id of a cell that was built here; empty if the student has added it."""
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))
