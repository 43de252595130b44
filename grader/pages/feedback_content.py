"""Read the contents of a feedback page from the graded notebook of one student.

Everything in the notebook is treated as hostile: a student wrote it, and an instructor may have changed it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from markupsafe import Markup, escape
from nbformat import NotebookNode

from grader.facts.student_text import line_of_syntax_error
from grader.model.answer import Symptom
from grader.model.denied import for_student
from grader.model.label import Label
from grader.model.untrusted import Texts, converted, number
from grader.model.verdict import Picture, Reason, Scored, Verdict, about_their_cell
from grader.notebooks.cells import NOTES, exercise_of, is_test_cell, ours, solved_exercise
from grader.notebooks.outputs import rebuild_outputs
from grader.notebooks.verdict_cells import tried_in, verdicts_of
from grader.pages.page_parts import Figure, Page, PagePart, Said, state_of
from grader.pages.sections import Sections, without_points
from grader.pages.sentence_groups import Group, groups_of
from grader.pages.text_html import MAX_PRINTED, clean, highlighted, narrow_html, picture_html, printed, sentence_html
from grader.sandbox.plain_text import one_line
from grader.term.rules import Rule

# What a student should do next, by the reason of the verdict.

_NEXT_STEPS = {
    Reason.MISSING: "Restart the kernel and run all cells from the top. Is the name still defined?",
    Reason.ERROR: "Print each step, up to the line where it stops.",
    Reason.TEST_FAILED: "Restart the kernel, run all cells from the top, and call your code the way the test does.",
    Reason.NO_ANSWER: "Look for a loop that never ends, or for code that takes far too much memory.",
    Reason.CONSTANT: "Call it with two different inputs, and print each step for both: from which step on "
    "is it the same?",
    Reason.WRONG: "Work out one result on paper, and print each step of your code for the same inputs.",
}
# More specific advice, where it is known what went wrong.
_ADVICE = {
    Symptom.NAME: "Find the place where that name gets its value. It should be an argument, "
    "or be computed before it is used.",
    Symptom.SYNTAX: "Run just this cell: Python shows the place that it cannot "
    "read. Often a bracket or a colon is missing just before it.",
    Symptom.KIND: "Just before it stops, print what each value is: a tensor, a list, a number or None?",
    Symptom.DTYPE: "Print the dtype of each tensor just before it stops. Each should match the input's dtype.",
    Symptom.SIZE: "Print the shape of each tensor just before it stops.",
    Symptom.NOTHING: "Call it in a new cell, and look at what comes back. Every path through the code has to "
    "return a result.",
    Symptom.NAN: "Print each step, and find the first line that gives NaN or ∞.",
}


def next_step(verdict: Verdict) -> str:
    """What the student should do next; empty if the sentences say it all."""
    if verdict.reason not in _NEXT_STEPS:
        return ""
    if verdict.symptom == Symptom.SIZE and verdict.cases_right:
        return f"Call it with inputs of other sizes than the notebook's. {_ADVICE[Symptom.SIZE]}"
    return _ADVICE[verdict.symptom] if verdict.symptom else _NEXT_STEPS[verdict.reason]


# The headline, by the reason of the verdict.
_STATES = {
    Reason.RIGHT: "Right",
    Reason.TO_DO: "Still to do",
    Reason.MISSING: "Not found",
    Reason.ERROR: "Stopped with an error",
    Reason.NO_ANSWER: "No result",
    Reason.TEST_FAILED: "The test fails",
}
_UNEXPLAINED = (Reason.ERROR, Reason.NO_ANSWER, Reason.WRONG, Reason.LOCATED)
# Names of code, such as d_out, self.values and dO, stay as they are at the start of a headline.
_NAME_OF_CODE = re.compile(r"\w*[_.\d]|[a-z]+[A-Z]|[b-z]\b")
_QUOTE = re.compile(r"`([^`]+)`")
MAX_OUTPUTS = 50  # of a cell, on the page
_PATH = re.compile(r"(?<![\w.…/~])(?:~|/[\w.@+-]+)/[^\s'\"`,;:()]+")


def page_of(notebook: NotebookNode, names: Mapping[str, object], sections: Sections) -> Page:
    """The contents of the page. `names` is what nbgrader knows: student, notebook, score, late penalty."""
    return _Reader(notebook, names, sections).page()


class _Reader:
    """Read what the grader and nbgrader wrote into a notebook."""

    def __init__(self, notebook: NotebookNode, names: Mapping[str, object], sections: Sections) -> None:
        self.notebook = notebook
        self.names = names
        self.sections = sections
        self.sources = "\n".join(cell.source for cell in notebook.cells)
        self.solutions = {
            exercise: cell for cell in notebook.cells if (exercise := solved_exercise(cell)) is not None
        }  # fmt: skip
        self.tested: set[Label | None] = set()

    def page(self) -> Page:
        parts = [_by_rule(part, cell) for cell in self.notebook.cells if (part := self._part(cell))]
        parts += [part for exercise, cell in self.solutions.items() if (part := self._only_comment(exercise, cell))]
        score, largest = number(self.names.get("score")), number(self.names.get("max_score"))
        largest = sum(part.max_points for part in parts) if largest is None else largest
        name = one_line(self.names.get("notebook", "") or "feedback")
        places = (self.notebook, *self.notebook.cells[:1])
        notes = [note for place in places for note in converted(ours(place).get(NOTES), Texts) or ()]
        return Page(
            title=self.sections.title or name,
            student=one_line(self.names.get("of") or self.names.get("student", "")),
            notebook=name,
            score=None if score is None else max(0.0, score),  # nbgrader's penalty may be more than the points
            max_score=largest,
            without_rules=largest if (most := number(self.names.get("without_rules"))) is None else most,
            late_penalty=number(self.names.get("late_penalty")) or 0.0,
            attempt=one_line(self.names.get("attempt", "")),
            why_late=one_line(self.names.get("why_late", "")),
            parts=parts,
            notes=list(map(self._sentence, notes)),
            blocked=[self._sentence(f"Your code tried to {for_student(kind)}.") for kind in tried_in(self.notebook)],
        )

    def _part(self, cell: NotebookNode) -> PagePart | None:
        marks = cell.metadata.get("nbgrader", {})
        if is_test_cell(cell):
            return self._exercise(cell, marks)
        if (marks.get("grade") and marks.get("solution")) or marks.get("task"):
            return self._written(cell, marks)
        if marks.get("solution") and solved_exercise(cell) is None:
            return self._commented(cell, one_line(marks["grade_id"]))
        return None

    def _exercise(self, cell: NotebookNode, marks: Mapping[str, Any]) -> PagePart:
        exercise = exercise_of(marks["grade_id"])
        scored = next(reversed(verdicts_of(cell)), None)
        verdict = scored.verdict if scored else None
        most = number(marks.get("points")) or 0.0
        part = PagePart(
            name=f"part-{one_line(marks['grade_id'])}",
            title=f"Exercise {exercise}" if exercise else one_line(marks["grade_id"]),
            points=number(marks.get("score")),
            max_points=most,
            state="none",
            headline="",
            exercise=exercise,
        )
        solution = None if exercise is None or exercise in self.tested else self.solutions.get(exercise)
        self.tested.add(exercise)
        source = "" if solution is None else solution.source
        if scored:
            self._explain(part, scored, source)
        elif part.points is None:
            part.state, part.headline = "waiting", "Not graded"
        else:
            part.state = state_of(part.points, most)
            part.headline = "Graded, without details"
        if part.state != "full" and not (verdict and verdict.right):
            part.steps = [*self._hint(cell, verdict), *part.steps, *self._to_read(marks["grade_id"], verdict)]
            part.steps += [_again(cell, exercise)] if exercise else []
        if solution is not None:
            if not verdict or verdict.reason != Reason.TO_DO or verdict.credit:
                part.code = highlighted(source, _quotes_in(verdict, source) if verdict else set())
            self._add_comment(part, solution)
        if marks.get("waiting"):
            _wait(part, marks)
        return part

    def _explain(self, part: PagePart, scored: Scored, source: str) -> None:
        verdict = scored.verdict
        part.title = f"{part.title}: {verdict.title}" if part.exercise else verdict.title
        part.state = "full" if verdict.right else "part" if verdict.credit > 0 else "none"
        part.headline = _headline(verdict, source)
        part.right = [self._sentence(text) for text in _what_is_right(scored, part.max_points)]
        if part.state != "full" and (verdict.reason != Reason.TO_DO or verdict.credit):
            part.wrong = [self._said(group) for group in _what_is_wrong(verdict)]
        part.steps = [Markup(escape(step))] if (step := next_step(verdict)) else []
        part.figures = list(map(self._figure, verdict.pictures))
        if part.points is None:
            part.points = scored.points
        elif abs(part.points - scored.points) > 1e-6:
            self._set_by_hand(part, scored)

    def _said(self, group: Group) -> Said:
        return Said(self._sentence(group.heading), list(map(self._sentence, group.sentences)))

    def _figure(self, picture: Picture) -> Figure:
        wrong, right = (list(map(self._sentence, notes)) for notes in (picture.wrong, picture.right))
        return Figure(picture, self._sentence(picture.title), wrong, right)

    def _set_by_hand(self, part: PagePart, scored: Scored) -> None:
        """Put the instructor's points first; what the tests found is still shown below them."""
        part.automatic, part.found = scored.points, part.headline
        part.state, part.headline = state_of(part.points or 0.0, part.max_points), "Points set by your instructor"
        if part.state == "full":
            part.steps = []
            part.right = part.right if scored.verdict.right else []  # it mentions the points that were replaced
        elif scored.verdict.right:
            part.steps = [Markup("The tests found nothing wrong. Ask your instructor what is missing.")]

    def _hint(self, cell: NotebookNode, verdict: Verdict | None) -> Iterator[Markup]:
        section = self.sections.by_cell.get(cell.metadata["nbgrader"]["grade_id"], "")
        if verdict and verdict.reason == Reason.TO_DO and section in self.sections.with_hint:
            yield Markup("Start with the first hint: open it in this section of the notebook.")

    def _to_read(self, grade_id: str, verdict: Verdict | None) -> Iterator[Markup]:
        own = self.sections.by_cell.get(grade_id, "")
        other = self.sections.by_anchor.get(verdict.explained_in, "") if verdict else ""
        named = [f"“{self._sentence(without_points(name))}”" for name in dict.fromkeys([other, own]) if name]
        has_hints = self.sections.calls_hint and own in self.sections.with_hint
        hints = f". For a hint, run <code>hint({exercise_of(grade_id)!r})</code> there" if has_hints else ""
        if named:
            yield Markup(f"Reread {', then '.join(named)} in the notebook{hints}.")

    def _written(self, cell: NotebookNode, marks: Mapping[str, Any]) -> PagePart:
        points, most = number(marks.get("score")), number(marks.get("points")) or 0.0
        waiting = bool(marks.get("waiting")) or points is None
        empty = not waiting and not marks.get("by_hand", True)  # nbgrader itself gives no points to unchanged cells
        section = self.sections.by_cell.get(marks["grade_id"], "")
        part = PagePart(
            name=f"part-{one_line(marks['grade_id'])}",
            title=f"{'Task' if marks.get('task') else 'Your answer'}: {one_line(marks['grade_id'])}",
            points=points,
            max_points=most,
            state=state_of(points or 0.0, most),
            headline="Graded by your instructor",
        )
        if waiting:
            _wait(part, marks)
        if empty:
            part.headline = "Nothing written yet"
            return part
        if section and part.state in ("part", "none"):
            part.steps = [Markup(f"Reread “{self._sentence(without_points(section))}” in the notebook.")]
        own = not marks.get("task")  # a task's text is the instructor's, mark scheme and all
        if own and cell.cell_type == "code":
            part.code, part.outputs = highlighted(cell.source), list(self._outputs(cell))
        elif own:
            part.text = narrow_html(cell.source)
        self._add_comment(part, cell)
        return part

    def _only_comment(self, exercise: Label, cell: NotebookNode) -> PagePart | None:
        """The part for a solution that has a comment, but no test."""
        if exercise in self.tested:
            return None
        return self._commented(cell, f"Exercise {exercise}", f"comment-{exercise}")

    def _commented(self, cell: NotebookNode, title: str, name: str = "") -> PagePart | None:
        part = PagePart(name or f"comment-{title}", title, None, 0.0, "waiting", "Not graded")
        if cell.cell_type == "code":
            part.code, part.outputs = highlighted(cell.source), list(self._outputs(cell))
        else:
            part.text = narrow_html(cell.source)
        self._add_comment(part, cell)
        return part if part.comment else None

    def _add_comment(self, part: PagePart, cell: NotebookNode) -> None:
        marks = cell.metadata.get("nbgrader", {})
        said = marks.get("comment")
        # nbgrader itself comments "No response." on unchanged cells; the page says more.
        if isinstance(said, str) and said.strip() and marks.get("comment_by_hand", True):
            part.comment = narrow_html(said)

    def _outputs(self, cell: NotebookNode) -> Iterator[Markup]:
        """What the cell printed and drew, and how it ended: whoever gave the points saw that, too."""
        theirs = [output for output in cell.outputs if not ours(output)]
        for output in rebuild_outputs(theirs[:MAX_OUTPUTS]):
            data = output.get("data", {})
            if picture := picture_html(data):
                yield picture
            elif "text/markdown" in data:
                yield narrow_html(data["text/markdown"])
            else:
                lines = output.get("traceback") or [output.get("text") or data.get("text/plain") or ""]
                yield printed(self._without_paths("\n".join(lines)[: MAX_PRINTED + 1]))
        if len(theirs) > MAX_OUTPUTS:
            yield printed("… (the rest is left out)")

    def _sentence(self, text: str) -> Markup:
        return sentence_html(self._without_paths(clean(text)))

    def _without_paths(self, text: str) -> str:
        """Leave out all paths, except those in the student's own code."""
        return _PATH.sub(lambda path: path[0] if path[0] in self.sources else "…", text)


def _wait(part: PagePart, marks: Mapping[str, Any]) -> None:
    """Mark a part as waiting for a person. Points it already has, say for an earlier answer, count so far."""
    part.points = number(marks.get("score")) or None
    part.state, part.headline = "waiting", "Waiting for your instructor"


def _by_rule(part: PagePart, cell: NotebookNode) -> PagePart:
    """Apply the term's rule for a cell. What was found stays on the page: there is something to learn from it."""
    said = cell.metadata.get("nbgrader", {}).get("rule")
    part.rule = Rule(said) if said in list(Rule) else None
    is_open = part.state == "waiting"  # though a rule makes waiting pointless
    if part.rule is Rule.VOID:
        part.right = part.right if part.state == "full" else []  # it mentions points
        part.state, part.headline = "void", "Not graded" if is_open else part.headline
    elif part.rule is Rule.FULL and (is_open or part.points is None or part.points < part.max_points):
        if not is_open:
            part.automatic, part.found = part.points or 0.0, part.headline
        part.points = max(part.points or 0.0, part.max_points)
        part.state, part.headline = "full", "Full marks for everyone who submitted"
        part.right, part.steps = [], []
    return part


def _headline(verdict: Verdict, source: str) -> str:
    """The headline of a verdict on code with this text. Of several functions, some may still be to do."""
    begun = [function for function in verdict.functions.values() if function.reason != Reason.TO_DO]
    if not begun or len(begun) == len(verdict.functions):
        return _state_in_words(verdict, source)
    to_do = [f"{name} still to do" for name, function in verdict.functions.items() if function not in begun]
    is_right = all(function.right for function in begun)
    return " + ".join(to_do if is_right else [_state_in_words(verdict, source), *to_do])


def _state_in_words(verdict: Verdict, source: str) -> str:
    if named := " + ".join(verdict.misconceptions):
        return named if _NAME_OF_CODE.match(named) else named[:1].upper() + named[1:]
    if verdict.symptom == Symptom.SYNTAX:
        line = line_of_syntax_error(source)
        return f"Syntax error in line {line}" if line else "Syntax error"
    partly = "Partly right" if 0 < verdict.credit < 1 else ""
    if partly and verdict.reason == Reason.TEST_FAILED:
        return partly
    return _STATES.get(verdict.reason, partly or "Not right yet")


def _what_is_right(scored: Scored, most: float) -> Iterator[str]:
    verdict = scored.verdict
    if verdict.right:
        if verdict.cases > 1:
            yield f"all {verdict.cases} hidden cases."
        return
    if _functions_differ(verdict):
        yield from (f"`{name}` is right." for name, function in verdict.functions.items() if function.right)
    elif verdict.reason in (Reason.MISCONCEPTION, Reason.LOCATED) and verdict.credit > 0 and not verdict.partly_named:
        yield f"Everything else is right: {scored.points:g} of {most:g} points."
    if _some_cases_are_right(verdict) and not any(map(_says_how_many, verdict.functions.values() or [verdict])):
        yield f"{verdict.cases_right} of {verdict.cases} hidden cases are right."


def _quotes_in(verdict: Verdict, source: str) -> set[str]:
    """What the sentences of a verdict quote, lines of the code among them."""
    quotes = {quote for text in verdict.sentences for quote in _QUOTE.findall(text)}
    number = line_of_syntax_error(source) if verdict.symptom == Symptom.SYNTAX else None
    return {*quotes, *source.split("\n")[number - 1 : number]} if number else quotes


def _what_is_wrong(verdict: Verdict) -> Iterator[Group]:
    if not _functions_differ(verdict):
        yield from groups_of(next(iter(verdict.functions.values()), verdict))
        return
    of_cell = about_their_cell(verdict.functions)
    for name, function in verdict.functions.items():
        for group in groups_of(function) if not function.right else ():
            texts = [group.heading] if group.heading else [text for text in group.sentences if text not in of_cell]
            named = [f"`{name}`: {text}" for text in texts]
            yield Group(named[0], group.sentences) if group.heading else Group("", named)
    if of_cell:
        yield Group("", of_cell)


def _functions_differ(verdict: Verdict) -> bool:
    """Whether the functions that share an exercise have different things to say."""
    return len({function.sentences for function in verdict.functions.values()}) > 1


def _some_cases_are_right(verdict: Verdict) -> bool:
    return 0 < verdict.cases_right < verdict.cases


def _says_how_many(verdict: Verdict) -> bool:
    """Whether the sentences already say that, as they do if nothing explains what is wrong."""
    return verdict.reason in _UNEXPLAINED and _some_cases_are_right(verdict)


def _again(cell: NotebookNode, exercise: Label) -> Markup:
    """What to run after a change: `check`, if the notebook has it, or else the test cell."""
    call = f"check({exercise!r})"
    what = f"<code>{call}</code>" if call in cell.source else "the test cell below it"
    return Markup(f"After each change, run {what} again.")
