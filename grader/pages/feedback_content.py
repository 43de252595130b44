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
from grader.pages.headings import Headings, without_points
from grader.pages.page_parts import Figure, Page, PageSection, state_of
from grader.pages.sentence_groups import SentenceGroup, groups_of
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


def page_of(notebook: NotebookNode, names: Mapping[str, object], headings: Headings) -> Page:
    """The contents of the page. `names` is what nbgrader knows: student, notebook, score, late penalty."""
    return _Reader(notebook, names, headings).page()


def explain(section: PageSection, scored: Scored) -> None:
    """Say in sentences what a verdict says: without the student's code, and without pictures."""
    _Reader(NotebookNode(cells=[]), {}, Headings()).explain(section, scored, "")
    section.figures = []


class _Reader:
    """Read what the grader and nbgrader wrote into a notebook."""

    def __init__(self, notebook: NotebookNode, names: Mapping[str, object], headings: Headings) -> None:
        self.notebook = notebook
        self.names = names
        self.headings = headings
        self.sources = "\n".join(cell.source for cell in notebook.cells)
        self.solutions: dict[Label, NotebookNode] = {}
        for cell in notebook.cells:
            exercise = solved_exercise(cell)
            if exercise is not None:
                self.solutions[exercise] = cell
        self.tested: set[Label | None] = set()
        self.prefix = one_line(names.get("prefix", ""))

    def page(self) -> Page:
        sections = self._sections()
        score = number(self.names.get("score"))
        max_score = number(self.names.get("max_score"))
        if max_score is None:
            max_score = sum(section.max_points for section in sections)
        without_rules = number(self.names.get("without_rules"))
        name = one_line(self.names.get("notebook", "") or "feedback")
        notes: list[str] = []
        for owner in (self.notebook, *self.notebook.cells[:1]):
            notes += converted(ours(owner).get(NOTES), Texts) or ()
        return Page(
            title=self.headings.title or name,
            student=one_line(self.names.get("of") or self.names.get("student", "")),
            notebook=name,
            score=None if score is None else max(0.0, score),  # nbgrader's penalty may be more than the points
            max_score=max_score,
            without_rules=max_score if without_rules is None else without_rules,
            late_penalty=number(self.names.get("late_penalty")) or 0.0,
            attempt=one_line(self.names.get("attempt", "")),
            why_late=one_line(self.names.get("why_late", "")),
            sections=sections,
            notes=list(map(self._sentence, notes)),
            blocked=[self._sentence(f"Your code tried to {for_student(kind)}.") for kind in tried_in(self.notebook)],
            waits=sum(section.state == "waiting" and section.max_points > 0 for section in sections),
            prefix=self.prefix,
        )

    def _sections(self) -> list[PageSection]:
        sections = []
        for cell in self.notebook.cells:
            section = self._section(cell)
            if section:
                rule = cell.metadata.get("nbgrader", {}).get("rule")
                apply_rule(section, Rule(rule) if rule in list(Rule) else None)
                sections.append(section)
        for exercise, cell in self.solutions.items():
            section = self._only_comment(exercise, cell)
            if section:
                sections.append(section)
        return sections

    def _section(self, cell: NotebookNode) -> PageSection | None:
        marks = cell.metadata.get("nbgrader", {})
        if is_test_cell(cell):
            return self._exercise(cell, marks)
        if (marks.get("grade") and marks.get("solution")) or marks.get("task"):
            return self._written_answer(cell, marks)
        if marks.get("solution") and solved_exercise(cell) is None:
            return self._commented(cell, one_line(marks["grade_id"]))
        return None

    def _exercise(self, cell: NotebookNode, marks: Mapping[str, Any]) -> PageSection:
        exercise = exercise_of(marks["grade_id"])
        scored = next(reversed(verdicts_of(cell)), None)
        verdict = scored.verdict if scored else None
        max_points = number(marks.get("points")) or 0.0
        section = PageSection(
            name=f"{self.prefix}part-{one_line(marks['grade_id'])}",
            title=f"Exercise {exercise}" if exercise else one_line(marks["grade_id"]),
            points=number(marks.get("score")),
            max_points=max_points,
            state="none",
            headline="",
            exercise=exercise,
        )
        solution = None if exercise is None or exercise in self.tested else self.solutions.get(exercise)
        self.tested.add(exercise)
        source = "" if solution is None else solution.source
        if scored:
            self.explain(section, scored, source)
        elif section.points is None:
            section.state, section.headline = "waiting", "Not graded"
        else:
            section.state = state_of(section.points, max_points)
            section.headline = "Graded, without details"
        if section.state != "full" and not (verdict and verdict.right):
            section.steps = [*self._hint(cell, verdict), *section.steps, *self._to_read(marks["grade_id"], verdict)]
            if exercise:
                section.steps.append(_run_again(cell, exercise))
        if solution is not None:
            if not verdict or verdict.reason != Reason.TO_DO or verdict.credit:
                section.code = highlighted(source, _quotes_in(verdict, source) if verdict else set())
            self._add_comment(section, solution)
        if marks.get("waiting"):
            wait(section, number(marks.get("score")))
        return section

    def explain(self, section: PageSection, scored: Scored, source: str) -> None:
        verdict = scored.verdict
        section.title = f"{section.title}: {verdict.title}" if section.exercise else verdict.title
        section.state = state_of(verdict.credit, 1.0)
        section.headline = _headline(verdict, source)
        section.right = [self._sentence(text) for text in _what_is_right(scored, section.max_points)]
        if section.state != "full" and (verdict.reason != Reason.TO_DO or verdict.credit):
            section.wrong = list(map(self._group_html, _what_is_wrong(verdict)))
        step = next_step(verdict)
        section.steps = [Markup(escape(step))] if step else []
        section.figures = list(map(self._figure, verdict.pictures))
        if section.points is None:
            section.points = scored.points
        elif abs(section.points - scored.points) > 1e-6:
            self._set_by_hand(section, scored)

    def _group_html(self, group: SentenceGroup) -> SentenceGroup:
        return SentenceGroup(self._sentence(group.heading), list(map(self._sentence, group.sentences)))

    def _figure(self, picture: Picture) -> Figure:
        wrong, right = list(map(self._sentence, picture.wrong)), list(map(self._sentence, picture.right))
        return Figure(picture, self._sentence(picture.title), wrong, right)

    def _set_by_hand(self, section: PageSection, scored: Scored) -> None:
        """Put the instructor's points first; what the tests found is still shown below them."""
        section.automatic, section.tests_headline = scored.points, section.headline
        section.state = state_of(section.points or 0.0, section.max_points)
        section.headline = "Points set by your instructor"
        if section.state == "full":
            section.steps = []
            section.right = section.right if scored.verdict.right else []  # it mentions the points that were replaced
        elif scored.verdict.right:
            section.steps = [Markup("The tests found nothing wrong. Ask your instructor what is missing.")]

    def _hint(self, cell: NotebookNode, verdict: Verdict | None) -> Iterator[Markup]:
        section_heading = self.headings.by_cell.get(cell.metadata["nbgrader"]["grade_id"], "")
        if verdict and verdict.reason == Reason.TO_DO and section_heading in self.headings.with_hint:
            yield Markup("Start with the first hint: open it in this section of the notebook.")

    def _to_read(self, grade_id: str, verdict: Verdict | None) -> Iterator[Markup]:
        section_heading = self.headings.by_cell.get(grade_id, "")
        explanation = self.headings.by_anchor.get(verdict.explained_in, "") if verdict else ""
        headings = dict.fromkeys(filter(None, [explanation, section_heading]))
        quoted = [f"“{self._sentence(without_points(heading))}”" for heading in headings]
        has_hints = self.headings.calls_hint and section_heading in self.headings.with_hint
        hints = f". For a hint, run <code>hint({exercise_of(grade_id)!r})</code> there" if has_hints else ""
        if quoted:
            yield Markup(f"Reread {', then '.join(quoted)} in the notebook{hints}.")

    def _written_answer(self, cell: NotebookNode, marks: Mapping[str, Any]) -> PageSection:
        points, max_points = number(marks.get("score")), number(marks.get("points")) or 0.0
        is_waiting = bool(marks.get("waiting")) or points is None
        is_empty = not is_waiting and not marks.get("by_hand", True)  # nbgrader gives no points to unchanged cells
        section_heading = self.headings.by_cell.get(marks["grade_id"], "")
        section = PageSection(
            name=f"{self.prefix}part-{one_line(marks['grade_id'])}",
            title=f"{'Task' if marks.get('task') else 'Your answer'}: {one_line(marks['grade_id'])}",
            points=points,
            max_points=max_points,
            state=state_of(points or 0.0, max_points),
            headline="Graded by your instructor",
        )
        if is_waiting:
            wait(section, points)
        if is_empty:
            section.headline = "Nothing written yet"
            return section
        if section_heading and section.state in ("part", "none"):
            section.steps = [Markup(f"Reread “{self._sentence(without_points(section_heading))}” in the notebook.")]
        is_student_text = not marks.get("task")  # a task's text is the instructor's, mark scheme and all
        if is_student_text and cell.cell_type == "code":
            section.code, section.outputs = highlighted(cell.source), list(self._outputs(cell))
        elif is_student_text:
            section.text = narrow_html(cell.source)
        self._add_comment(section, cell)
        return section

    def _only_comment(self, exercise: Label, cell: NotebookNode) -> PageSection | None:
        """The section for a solution that has a comment, but no test."""
        if exercise in self.tested:
            return None
        return self._commented(cell, f"Exercise {exercise}", f"comment-{exercise}")

    def _commented(self, cell: NotebookNode, title: str, name: str = "") -> PageSection | None:
        section = PageSection(name or f"comment-{title}", title, None, 0.0, "waiting", "Not graded")
        if cell.cell_type == "code":
            section.code, section.outputs = highlighted(cell.source), list(self._outputs(cell))
        else:
            section.text = narrow_html(cell.source)
        self._add_comment(section, cell)
        return section if section.comment else None

    def _add_comment(self, section: PageSection, cell: NotebookNode) -> None:
        marks = cell.metadata.get("nbgrader", {})
        comment = marks.get("comment")
        # nbgrader itself comments "No response." on unchanged cells; the page says more.
        if isinstance(comment, str) and comment.strip() and marks.get("comment_by_hand", True):
            section.comment = narrow_html(comment)

    def _outputs(self, cell: NotebookNode) -> Iterator[Markup]:
        """What the cell printed and drew, and how it ended: whoever gave the points saw that, too."""
        outputs = [output for output in cell.outputs if not ours(output)]
        for output in rebuild_outputs(outputs[:MAX_OUTPUTS]):
            data = output.get("data", {})
            picture = picture_html(data)
            if picture:
                yield picture
            elif "text/markdown" in data:
                yield narrow_html(data["text/markdown"])
            else:
                lines = output.get("traceback") or [output.get("text") or data.get("text/plain") or ""]
                yield printed(self._without_paths("\n".join(lines)[: MAX_PRINTED + 1]))
        if len(outputs) > MAX_OUTPUTS:
            yield printed("… (the rest is left out)")

    def _sentence(self, text: str) -> Markup:
        return sentence_html(self._without_paths(clean(text)))

    def _without_paths(self, text: str) -> str:
        """Leave out all paths, except those in the student's own code."""
        return _PATH.sub(lambda path: path[0] if path[0] in self.sources else "…", text)


def wait(section: PageSection, points: float | None) -> None:
    """Mark a section as waiting for a person. Points it already has, say for an earlier answer, count so far."""
    section.points = points or None
    section.state, section.headline = "waiting", "Waiting for your instructor"


def apply_rule(section: PageSection, rule: Rule | None) -> None:
    """Apply the term's rule. What was found stays on the page: there is something to learn from it."""
    section.rule = rule
    is_open = section.state == "waiting"  # though a rule makes waiting pointless
    if section.rule is Rule.VOID:
        section.right = section.right if section.state == "full" else []  # it mentions points
        section.state, section.headline = "void", "Not graded" if is_open else section.headline
    elif section.rule is Rule.FULL and (is_open or section.points is None or section.points < section.max_points):
        if not is_open:
            section.automatic, section.tests_headline = section.points or 0.0, section.headline
        section.points = max(section.points or 0.0, section.max_points)
        section.state, section.headline = "full", "Full marks for everyone who submitted"
        section.right, section.steps = [], []


def _headline(verdict: Verdict, source: str) -> str:
    """The headline of a verdict on code with this text. Of several functions, some may still be to do."""
    begun = [function for function in verdict.functions.values() if function.reason != Reason.TO_DO]
    if not begun or len(begun) == len(verdict.functions):
        return _describe_state(verdict, source)
    to_do = [f"{name} still to do" for name, function in verdict.functions.items() if function not in begun]
    is_right = all(function.right for function in begun)
    return " + ".join(to_do if is_right else [_describe_state(verdict, source), *to_do])


def _describe_state(verdict: Verdict, source: str) -> str:
    names = " + ".join(verdict.misconceptions)
    if names:
        return names if _NAME_OF_CODE.match(names) else names[:1].upper() + names[1:]
    if verdict.symptom == Symptom.SYNTAX:
        line = line_of_syntax_error(source)
        return f"Syntax error in line {line}" if line else "Syntax error"
    partly = "Partly right" if 0 < verdict.credit < 1 else ""
    if partly and verdict.reason == Reason.TEST_FAILED:
        return partly
    return _STATES.get(verdict.reason, partly or "Not right yet")


def _what_is_right(scored: Scored, max_points: float) -> Iterator[str]:
    verdict = scored.verdict
    if verdict.right:
        if verdict.cases > 1:
            yield f"all {verdict.cases} hidden cases."
        return
    if _functions_differ(verdict):
        yield from (f"`{name}` is right." for name, function in verdict.functions.items() if function.right)
    elif verdict.reason in (Reason.MISCONCEPTION, Reason.LOCATED) and verdict.credit > 0 and not verdict.partly_named:
        yield f"Everything else is right: {scored.points:g} of {max_points:g} points."
    is_said = any(map(_says_how_many, verdict.functions.values() or [verdict]))
    if _some_cases_are_right(verdict) and not is_said:
        yield f"{verdict.cases_right} of {verdict.cases} hidden cases are right."


def _quotes_in(verdict: Verdict, source: str) -> set[str]:
    """What the sentences of a verdict quote, lines of the code among them."""
    quotes = {quote for text in verdict.sentences for quote in _QUOTE.findall(text)}
    number = line_of_syntax_error(source) if verdict.symptom == Symptom.SYNTAX else None
    if number:
        quotes.update(source.split("\n")[number - 1 : number])
    return quotes


def _what_is_wrong(verdict: Verdict) -> Iterator[SentenceGroup]:
    if not _functions_differ(verdict):
        yield from groups_of(next(iter(verdict.functions.values()), verdict))
        return
    about_cell = about_their_cell(verdict.functions)
    for name, function in verdict.functions.items():
        for group in groups_of(function) if not function.right else ():
            if group.heading:
                yield SentenceGroup(f"`{name}`: {group.heading}", group.sentences)
            else:
                yield SentenceGroup("", [f"`{name}`: {text}" for text in group.sentences if text not in about_cell])
    if about_cell:
        yield SentenceGroup("", about_cell)


def _functions_differ(verdict: Verdict) -> bool:
    """Whether the functions that share an exercise have different things to say."""
    return len({function.sentences for function in verdict.functions.values()}) > 1


def _some_cases_are_right(verdict: Verdict) -> bool:
    return 0 < verdict.cases_right < verdict.cases


def _says_how_many(verdict: Verdict) -> bool:
    """Whether the sentences already say that, as they do if nothing explains what is wrong."""
    return verdict.reason in _UNEXPLAINED and _some_cases_are_right(verdict)


def _run_again(cell: NotebookNode, exercise: Label) -> Markup:
    """What to run after a change: `check`, if the notebook has it, or else the test cell."""
    call = f"check({exercise!r})"
    target = f"<code>{call}</code>" if call in cell.source else "the test cell below it"
    return Markup(f"After each change, run {target} again.")
