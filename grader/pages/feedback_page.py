"""The feedback page of one student, out of the autograded notebook: what nbgrader's GenerateFeedback exports to.

It is one file without scripts, and loads nothing. Whatever the notebook holds is taken for hostile: a student wrote it,
and an instructor may have changed it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import nh3
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from nbconvert.exporters import Exporter
from nbgrader.api import MissingEntry
from nbgrader.preprocessors import GetGrades
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from sqlalchemy.exc import StatementError
from traitlets import default

from grader.notebooks.cells import METADATA_KEY, NOTES, is_test_cell, solution_number
from grader.notebooks.safe_html import markdown_to_html, safe_markdown
from grader.notebooks.verdict_cells import BLOCKED_KEY
from grader.pages.heat_map import heat_map, picture_from
from grader.sandbox.plain_text import one_line

MAX_CODE = 20_000  # characters of one solution; more is nobody's own
MAX_SENTENCE = 2_000
MAX_SENTENCES = 20

_UNREADABLE = "The graded notebook could not be read, so only the points are shown. Please tell your instructor."
_LEFT_OUT = "\n\n# … (the rest is left out here)"
# What the student looks at first, and what to do about it, by the reason of a verdict.
_STATES = {
    "right": "Right",
    "to do": "Still to do",
    "missing": "Not found",
    "error": "Stopped with an error",
    "no answer": "No result",
}
_NEXT_STEPS = {
    "to do": "Begin with the hint that unfolds in this section.",
    "missing": "Restart the kernel, run all cells from the top, and see whether the name is still known.",
    "error": "Call it with inputs of other sizes than the notebook's, until you see the same error.",
    "no answer": "Look for a loop that does not come to an end, or for far too much memory.",
    "constant": "Look for names of the notebook's own data in your code, and use the arguments instead.",
    "wrong": "Try it on inputs of other sizes than the notebook's, and follow one number by hand.",
}
_TEST_CELL = re.compile(r"test-exercise-(\d+)")
_HEADING = re.compile(r"(#{1,4})[ \t]+(.+)")
_ANCHOR = re.compile(r'<a id="([\w-]+)"></a>')
_PATH = re.compile(r"(?<![\w.…/~])(?:~|/[\w.@+-]+)/[^\s'\"`,;:()]+")
_ABOUT_A_FUNCTION = re.compile(r"`\w+`: ")
_RIGHT_FUNCTION = re.compile(r"(`\w+`): Right\.")
_CONTROLS = re.compile(r"[^\S\n ]|[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


# --- what nbgrader knows ---------------------------------------------------------------------------------------------


class Grades(GetGrades):
    """nbgrader's GetGrades, which also takes notebooks with cells that the gradebook does not know."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        try:
            output: tuple[Any, Any] = super().preprocess(nb, resources)
            return output
        except MissingEntry:
            return nb, resources

    def _get_score(self, cell: Any, _resources: Any) -> None:
        grade = self._found(self.gradebook.find_grade, cell)
        if grade is not None:
            by_hand = grade.manual_score is not None
            known = {"score": grade.score, "points": grade.max_score, "by_hand": by_hand}
            cell.metadata.nbgrader.update(known, waiting=bool(grade.needs_manual_grade))

    def _get_comment(self, cell: Any, _resources: Any) -> None:
        comment = self._found(self.gradebook.find_comment, cell)
        if comment is not None:
            cell.metadata.nbgrader.update(comment=comment.comment, comment_by_hand=bool(comment.manual_comment))

    def _found(self, find: Any, cell: Any) -> Any:
        """A row of the gradebook, or None."""
        try:
            return find(cell.metadata.nbgrader.grade_id, self.notebook_id, self.assignment_id, self.student_id)
        except (MissingEntry, StatementError):
            return None


class FeedbackExporter(Exporter):
    """A notebook with grades as an HTML page for its student."""

    @default("file_extension")  # type: ignore[untyped-decorator]
    def _file_extension_default(self) -> str:
        return ".html"

    output_mimetype = "text/html"

    def from_file(self, file_stream: Any, resources: Any = None, **kw: Any) -> tuple[str, Any]:
        try:
            notebook = _in_shape(nbformat.read(file_stream, as_version=4))
        except Exception:  # no reader of notebooks says what it may stumble over; the student gets the points at least
            notebook = nbformat.v4.new_notebook(metadata={METADATA_KEY: {NOTES: [_UNREADABLE]}})
        return self.from_notebook_node(notebook, resources=resources, **kw)

    def from_notebook_node(self, nb: Any, resources: Any = None, **kw: Any) -> tuple[str, Any]:
        nb, resources = super().from_notebook_node(nb, resources, **kw)
        names = resources.get("nbgrader", {})
        return render(page_of(nb, names, self._sections(nb, names))), resources

    def _sections(self, nb: Any, names: Mapping[str, Any]) -> Sections:
        """Of the released notebook, if it lies where nbgrader has put it; else of the student's own."""
        course = getattr(self.parent, "coursedir", None)
        if course is not None and {"assignment", "notebook"} <= names.keys():
            folder = course.format_path(course.release_directory, ".", names["assignment"])
            released = Path(folder, f"{names['notebook']}.ipynb")
            if released.is_file():
                return _sections_of_file(released, released.stat().st_mtime_ns)
        return Sections.of(nb)


def _in_shape(notebook: Any) -> Any:
    """What everything that follows takes for granted, whoever has changed the file."""
    notebook.cells = [cell for cell in notebook.cells if isinstance(cell, dict)]
    for cell in notebook.cells:
        cell.setdefault("cell_type", "raw")
        cell["source"] = cell["source"] if isinstance(cell.get("source"), str) else ""
        if not isinstance(cell.get("metadata"), dict):
            cell["metadata"] = nbformat.from_dict({})
        marks = cell.metadata.get("nbgrader")
        if not isinstance(marks, dict) or not isinstance(marks.get("grade_id"), str):
            cell.metadata.pop("nbgrader", None)
        outputs = cell.get("outputs") if isinstance(cell.get("outputs"), list) else []
        cell["outputs"] = [one for one in outputs if isinstance(one, dict)]
    return notebook


# --- the sections of a notebook --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sections:
    """The headings of a notebook: its first, and those above cells and at anchors."""

    title: str = ""
    by_cell: Mapping[str, str] = field(default_factory=dict)
    by_anchor: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def of(notebook: Any) -> Sections:
        title, above, anchor = "", "", ""
        by_cell, by_anchor = {}, {}
        for cell in notebook.cells:
            if cell.metadata.get("nbgrader", {}).get("task"):
                continue  # as graded, it holds the mark scheme
            if cell.cell_type != "markdown":
                by_cell[str(cell.metadata.get("nbgrader", {}).get("grade_id"))] = above
                continue
            for line in cell.source.splitlines():
                if found := _ANCHOR.search(line):
                    anchor = found[1]
                if heading := _HEADING.fullmatch(line.rstrip()):
                    title = title or (heading[2] if heading[1] == "#" else "")
                    above = heading[2] if len(heading[1]) == 2 else above
                    by_anchor[anchor] = heading[2]
                    anchor = ""
        return Sections(title, by_cell, by_anchor)


@functools.lru_cache(maxsize=8)
def _sections_of_file(path: Path, _changed: int) -> Sections:
    """Read once for a class."""
    return Sections.of(nbformat.read(path, as_version=4))


# --- what the page says ----------------------------------------------------------------------------------------------


@dataclass
class Part:
    """One exercise or written answer on the page."""

    name: str  # of its place on the page
    title: str
    points: float | None
    max_points: float
    state: str  # full, part, none, waiting
    headline: str  # in a few words
    right: list[Markup] = field(default_factory=list)  # what was right
    wrong: list[Markup] = field(default_factory=list)  # what was not, and why
    steps: list[Markup] = field(default_factory=list)  # what to do next
    figures: list[Mapping[str, Any]] = field(default_factory=list)
    code: Markup | None = None
    text: Markup | None = None
    comment: Markup | None = None
    automatic: float | None = None  # points before somebody changed them
    found: str = ""  # by the tests, before that; in a few words
    number: int = 0  # of the exercise


@dataclass
class Page:
    title: str
    student: str
    notebook: str
    score: float | None
    max_score: float
    late_penalty: float
    parts: list[Part]
    notes: list[Markup]
    blocked: list[Markup]


def page_of(notebook: Any, names: Mapping[str, Any], sections: Sections) -> Page:
    """All that the page says. `names` is what nbgrader knows: student, notebook, score, late penalty."""
    return _Reader(notebook, names, sections).page()


class _Reader:
    """Reads what the grader and nbgrader have written into a notebook."""

    def __init__(self, notebook: Any, names: Mapping[str, Any], sections: Sections) -> None:
        self.notebook = notebook
        self.names = names
        self.sections = sections
        self.sources = "\n".join(cell.source for cell in notebook.cells)
        self.solutions = {
            number: cell for cell in notebook.cells if (number := solution_number(cell)) is not None
        }  # fmt: skip
        self.tested: set[int] = set()

    def page(self) -> Page:
        parts = [part for cell in self.notebook.cells if (part := self._part(cell))]
        parts += [part for number, cell in self.solutions.items() if (part := self._only_comment(number, cell))]
        score, largest = _number(self.names.get("score")), _number(self.names.get("max_score"))
        name = one_line(self.names.get("notebook", "") or "feedback")
        return Page(
            title=self.sections.title or name,
            student=one_line(self.names.get("student", "")),
            notebook=name,
            score=None if score is None else max(0.0, score),  # nbgrader takes a penalty off what is not there
            max_score=largest if largest is not None else sum(part.max_points for part in parts),
            late_penalty=_number(self.names.get("late_penalty")) or 0.0,
            parts=parts,
            notes=[self._sentence(note) for note in self._notes()],
            blocked=[self._sentence(f"It tried to {attempt}.") for attempt in self._blocked()],
        )

    def _part(self, cell: Any) -> Part | None:
        marks = cell.metadata.get("nbgrader", {})
        if is_test_cell(cell):
            return self._exercise(cell, marks)
        if (marks.get("grade") and marks.get("solution")) or marks.get("task"):
            return self._written(cell, marks)
        return None

    def _exercise(self, cell: Any, marks: Mapping[str, Any]) -> Part:
        match = _TEST_CELL.fullmatch(marks["grade_id"])
        number = int(match[1]) if match and len(match[1]) < 6 else 0
        verdict = _verdict_of(cell)
        most = _number(marks.get("points")) or 0.0
        part = Part(
            name=f"part-{one_line(marks['grade_id'])}",
            title=f"Exercise {number}" if number else one_line(marks["grade_id"]),
            points=_number(marks.get("score")),
            max_points=most,
            state="none",
            headline="",
            number=number,
        )
        solution = self.solutions.get(number) if number and number not in self.tested else None
        self.tested.add(number)
        if verdict:
            self._explain(part, verdict)
        elif part.points is None:
            part.state, part.headline = "waiting", "Not graded"
        else:
            part.state = _state(part.points, most)
            part.headline = "Graded without a verdict"
        passed = verdict is not None and verdict["credit"] >= 1
        if part.state != "full" and not passed:
            part.steps += self._to_reread(marks["grade_id"], verdict)
            part.steps += (
                [Markup(f"When you have changed it, run <code>check({number})</code> again.")] if number else []
            )
        if solution is not None:
            if not verdict or verdict["reason"] != "to do":
                part.code = highlighted(solution.source)
            self._add_comment(part, solution)
        return part

    def _explain(self, part: Part, verdict: Mapping[str, Any]) -> None:
        reason = verdict["reason"]
        part.title = f"{part.title}: {verdict['title']}" if part.number else verdict["title"]
        part.state = "full" if verdict["credit"] >= 1 else "part" if verdict["credit"] > 0 else "none"
        part.headline = _found(verdict)
        part.right = [self._sentence(one) for one in _what_is_right(verdict, part.max_points)]
        if part.state != "full" and reason != "to do":
            part.wrong = [self._sentence(one) for one in verdict["sentences"] if not _RIGHT_FUNCTION.fullmatch(one)]
        part.steps = [Markup(escape(_NEXT_STEPS[reason]))] if reason in _NEXT_STEPS else []
        for index, data in enumerate(verdict["pictures"]):
            if picture := picture_from(data):
                drawn = heat_map(picture, f"{part.name}-{index}")
                notes = {
                    "wrong": list(map(self._sentence, picture.wrong)),
                    "right": list(map(self._sentence, picture.right)),
                }
                part.figures.append({"drawing": drawn, "title": self._sentence(picture.title), **notes})
        if part.points is None:
            part.points = verdict["points"]
        elif verdict["points"] is not None and abs(part.points - verdict["points"]) > 1e-6:
            self._set_by_hand(part, verdict)

    def _set_by_hand(self, part: Part, verdict: Mapping[str, Any]) -> None:
        """What the instructor decided goes before what the tests found; that is still told below."""
        part.automatic, part.found = verdict["points"], _found(verdict)
        part.state, part.headline = _state(part.points or 0.0, part.max_points), "Points set by your instructor"
        if part.state == "full":
            part.steps = []
            part.right = part.right if verdict["credit"] >= 1 else []  # it speaks of the points that were not given
        elif verdict["credit"] >= 1:
            part.steps = [Markup("The tests find nothing wrong: ask your instructor what is missing.")]

    def _to_reread(self, grade_id: str, verdict: Mapping[str, Any] | None) -> Iterator[Markup]:
        own = self.sections.by_cell.get(grade_id, "")
        other = self.sections.by_anchor.get(verdict["reread"], "") if verdict else ""
        named = [f"“{self._sentence(name)}”" for name in dict.fromkeys([other, own]) if name]
        if named:
            yield Markup(f"Reread {', then '.join(named)} in the notebook.")

    def _written(self, cell: Any, marks: Mapping[str, Any]) -> Part:
        points, most = _number(marks.get("score")), _number(marks.get("points")) or 0.0
        waiting = bool(marks.get("waiting")) or points is None
        empty = not waiting and not marks.get("by_hand", True)  # nbgrader gives no points for what is as it was
        section = self.sections.by_cell.get(marks["grade_id"], "")
        part = Part(
            name=f"part-{one_line(marks['grade_id'])}",
            title=f"{'Task' if marks.get('task') else 'Your answer'}: {one_line(marks['grade_id'])}",
            points=None if waiting else points,
            max_points=most,
            state="waiting" if waiting else _state(points or 0.0, most),
            headline="Waits for your instructor" if waiting else "Graded by your instructor",
        )
        if empty:
            part.headline = "Nothing was written"
            return part
        if section and part.state in ("part", "none"):
            part.steps = [Markup(f"Reread “{self._sentence(section)}” in the notebook.")]
        own = not marks.get("task")  # the text of a task is the instructor's, mark scheme and all
        if own and cell.cell_type == "code":
            part.code = highlighted(cell.source)
        elif own:
            part.text = narrow_html(cell.source)
        self._add_comment(part, cell)
        return part

    def _only_comment(self, number: int, cell: Any) -> Part | None:
        """For a solution without a test that somebody has said something about."""
        if number in self.tested:
            return None
        part = Part(f"comment-{number}", f"Exercise {number}", None, 0.0, "waiting", "Not graded")
        part.code = highlighted(cell.source)
        self._add_comment(part, cell)
        return part if part.comment else None

    def _add_comment(self, part: Part, cell: Any) -> None:
        marks = cell.metadata.get("nbgrader", {})
        said = marks.get("comment")
        # By itself, nbgrader says "No response." of cells that are as they were; the page says more.
        if isinstance(said, str) and said.strip() and marks.get("comment_by_hand", True):
            part.comment = narrow_html(said)

    def _notes(self) -> list[str]:
        metadata = [self.notebook.metadata, *(cell.metadata for cell in self.notebook.cells[:1])]
        found = [one.get(METADATA_KEY) for one in metadata if isinstance(one, dict)]
        return [note for one in found if isinstance(one, dict) for note in _texts(one.get(NOTES))]

    def _blocked(self) -> list[str]:
        found = [_ours(output).get(BLOCKED_KEY) for cell in self.notebook.cells for output in cell.get("outputs", ())]
        return list(dict.fromkeys(attempt for one in found for attempt in _texts(one)))

    def _sentence(self, text: str) -> Markup:
        """With `code` in code font, and without a path that the student's own code does not name."""
        shown = _PATH.sub(lambda path: path[0] if path[0] in self.sources else "…", _clean(text))
        return Markup(re.sub(r"`([^`]*)`", r"<code>\1</code>", str(escape(shown))))


def _found(verdict: Mapping[str, Any]) -> str:
    """In a few words."""
    if named := " + ".join(verdict["misconceptions"]):
        return named[:1].upper() + named[1:]
    return _STATES.get(verdict["reason"], "Partly right" if 0 < verdict["credit"] < 1 else "Not right yet")


def _what_is_right(verdict: Mapping[str, Any], most: float) -> Iterator[str]:
    right, cases, names = verdict["cases_right"], verdict["cases"], verdict["misconceptions"]
    if verdict["credit"] >= 1:
        if cases > 1:
            yield f"all {cases} hidden cases."
        return
    yield from (
        f"{function[1]} is right." for one in verdict["sentences"] if (function := _RIGHT_FUNCTION.fullmatch(one))
    )
    single = not any(map(_ABOUT_A_FUNCTION.match, verdict["sentences"]))
    if verdict["reason"] == "misconception" and verdict["credit"] > 0 and single:
        mistakes = "this mistake" if len(names) == 1 else "these mistakes"
        share = f"{verdict['points']:g} of {most:g} points are for the rest"
        yield f"{share}: in every hidden case, your results are those of a right solution with just {mistakes}."
    if 0 < right < cases and not any("hidden cases are right" in one for one in verdict["sentences"]):
        yield f"{right} of {cases} hidden cases are right."


def _verdict_of(cell: Any) -> dict[str, Any] | None:
    """The verdict in an output of a test cell, every value of the kind that it should be; None if there is none."""
    found = [ours for output in cell.get("outputs", ()) if "points" in (ours := _ours(output))]
    if not found:
        return None
    data = found[-1]
    credit, points = _number(data.get("credit")), _number(data.get("points"))
    pictures = data.get("pictures")
    return {
        "title": one_line(data.get("title", "")),
        "credit": credit or 0.0,
        "points": points if points is not None else 0.0,
        "reason": str(data.get("reason", "")),
        "sentences": _texts(data.get("sentences")),
        "misconceptions": _texts(data.get("misconceptions")),
        "cases_right": int(_number(data.get("cases_right")) or 0),
        "cases": int(_number(data.get("cases")) or 0),
        "reread": str(data.get("reread", "")),
        "pictures": pictures[:4] if isinstance(pictures, list) else [],
    }


def _ours(output: Any) -> dict[str, Any]:
    metadata = output.get("metadata")
    ours = metadata.get(METADATA_KEY) if isinstance(metadata, dict) else None
    return ours if isinstance(ours, dict) else {}


def _texts(values: Any) -> list[str]:
    few = values[:MAX_SENTENCES] if isinstance(values, (list, tuple)) else []
    return [one[:MAX_SENTENCE] for one in few if isinstance(one, str)]


def _number(value: Any) -> float | None:
    """A finite number of ordinary size, or None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 1e6:
        return None
    return float(value)


def _state(points: float, most: float) -> str:
    return "full" if points >= most else "part" if points > 0 else "none"


# --- text of others as HTML ------------------------------------------------------------------------------------------

_TAGS = {"a", "b", "blockquote", "br", "code", "del", "em", "hr", "i", "li", "ol", "p", "pre", "strong", "sub", "sup"}
_TAGS |= {"table", "tbody", "td", "th", "thead", "tr", "ul"}
# No styles and no classes: what others write must look like text on this page, in the dark, too.
_NARROW = nh3.Cleaner(tags=_TAGS, attributes={"a": {"href"}}, url_schemes={"http", "https", "mailto"})


def narrow_html(markdown: str) -> Markup:
    """Markdown of a student or instructor: text, lists, tables, code and links that somebody must click."""
    return Markup(_NARROW.clean(markdown_to_html(safe_markdown(_clean(markdown)))))


def highlighted(source: str) -> Markup:
    """Code with its words in colours; characters that make it look like other code are shown as what they are."""
    text = _clean(source.strip("\n"))
    if len(text) > MAX_CODE:
        text = text[:MAX_CODE] + _LEFT_OUT
    return Markup(highlight(text, _python(), _formatter()))


def _clean(text: str) -> str:
    return _CONTROLS.sub(lambda found: "    " if found[0] == "\t" else "�", text.replace("\r\n", "\n"))


@functools.cache
def _python() -> PythonLexer:
    return PythonLexer(stripnl=False)


@functools.cache
def _formatter() -> Any:
    return HtmlFormatter(nowrap=True, classprefix="py-")


# --- the page --------------------------------------------------------------------------------------------------------


def render(page: Page) -> str:
    """The page as HTML."""
    right = [part for part in page.parts if part.state == "full"]
    todo = [part for part in page.parts if part.state in ("part", "none")]
    by_hand = any(part.automatic is not None for part in right)  # full marks, and not for what the tests found
    return str(_template().render(page=page, right=right, todo=todo, by_hand=by_hand))


@functools.cache
def _template() -> Any:
    """Compiled once for a class."""
    environment = Environment(
        loader=PackageLoader("grader.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["points"] = lambda number: f"{round(number, 2):g}"
    return environment.get_template("feedback.html.j2")
