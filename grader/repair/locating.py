"""Find the wrong lines: edit the student's code in one spot after another until every answer is right.

Edited code runs in a sandbox and is judged like the student's own. An edit that makes all answers right is the proof;
it is never shown.
"""

from __future__ import annotations

import functools
import heapq
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from grader.facts.student_text import Splice, StudentText, definitions_in
from grader.judging.answer_key import AnswerKey
from grader.judging.fitting import effort, numbers_that_fit
from grader.judging.judge import Judge
from grader.judging.judging_time import JudgingTime, JudgingTooLong
from grader.model.answer import Answer, Raised, Returned
from grader.model.edited import AskEdited, EditedSource
from grader.model.located import Change, Located
from grader.model.verdict import Verdict
from grader.repair.branches import with_a_branch_off
from grader.repair.edited_text import EditedText, steps_in
from grader.repair.edits import Edit, edits_of, makes_sense, spots_of, steps_of
from grader.repair.seen_values import FAILS, Seen, SeenAt, Span, asking, asking_before, seen_before, seen_in
from grader.repair.three_at_once import Intermediate, ThreeAtOnce, shown, shown_by_case

# What the expressions of the student's code are in one case, and where the code stops if it fails.

AskAll = Callable[[Iterable[EditedText]], Iterator[tuple[EditedText, Answer]]]


def look(text: EditedText, as_it_is: Answer, ask: AskAll) -> dict[Span, Seen]:
    """What the expressions are in the case that `ask` asks about."""
    spots = {text.text.span(node): node for node in spots_of(text.text)}
    asked = {span: asking(text.text.of(node)) for span, node in spots.items()}
    seen = _said(text, asked, ask, functools.partial(seen_in, as_it_is=as_it_is))
    if isinstance(as_it_is, Raised):
        unknown = {span: asking_before() for span in spots if span not in seen}
        seen |= _said(text, unknown, ask, functools.partial(seen_before, as_it_is=as_it_is))
    return seen


def where_it_fails_first(text: StudentText, seen: SeenAt, edits: Iterable[Edit]) -> list[Edit]:
    """The edits by plausibility; among equals, first those in the line that raises the error."""
    lines = {text.bytes[:start].count(b"\n") + 1 for (start, _), now in seen.items() if now is FAILS}
    return sorted(edits, key=lambda edit: (edit.cost, not edit.likely, edit.line not in lines))


def _said(
    text: EditedText, asked: Mapping[Span, str], ask: AskAll, read: Callable[[Answer], Seen | None]
) -> dict[Span, Seen]:
    splices = [Splice(*span, other) for span, other in asked.items()]
    said = {}
    for version, answer in ask([text.with_edit(Edit((splice,), 0, Change.NAME, 0), ()) for splice in splices]):
        now = read(answer)
        if now is not None and version.edit is not None:
            (splice,) = version.edit.splices
            said[splice.start, splice.end] = now
    return said


Item = TypeVar("Item")

MOST_TRIED = 1_800  # versions of one student's code
SLIP = 1  # the cost of one wrong word
MOST_MISTAKES = 3  # at once
MOST_PLAUSIBLE = 3  # the highest cost of an edit that is one of several
MOST_TRIED_FURTHER = 3  # versions that may be halfway to a right one
MOST_CHANGED = 1_000  # versions whose answers are kept
FEWEST_STEPS = 5  # below, code is a stub: its answers look like those of many mistakes
AT_ONCE = 32
SHOWS = 0.7  # the first case asked must show this share of the misconceptions that the best case shows
SECONDS = 4.0  # of the judge's processor time: a last resort, since versions are counted


class TrialEnded(Exception):
    """The sandbox tries nothing more."""


@dataclass(frozen=True)
class Repair:
    """Edits that, together, make all answers right."""

    text: EditedText

    @property
    def located(self) -> tuple[Located, ...]:
        """The lines as the student wrote them. Where several lines are wrong, each shows its first edit."""
        found = {line: Located(line, change) for line, change in reversed(self.text.places)}
        if len(found) == 1 < len(self.text.edits):
            return tuple(Located(line, Change.SEVERAL) for line in found)
        return tuple(reversed(found.values()))


class Locating:
    """The search through one student's code for one exercise."""

    def __init__(self, key: AnswerKey, ask: AskEdited, device: str, notebook: Sequence[str] = ()) -> None:
        """`notebook` has the names of its functions."""
        # Only numbers count here, and long cases show no mistake that short ones hide.
        self._all = key.only(key.about_numbers).short()
        self._cases = self._all.cases
        self._keys = [self._all.only([index]) for index in range(len(self._cases))]
        self._ask = ask
        self._notebook = notebook
        # Worked out once per exercise, outside the time of the first student who needs it.
        self._shows = shown_by_case(self._all.exercise) if self._all.exercise.glance else {}
        self._judge = Judge(device, JudgingTime(SECONDS))
        self._left = MOST_TRIED
        self._fitting = numbers_that_fit(self._cases)
        self._steps = 0  # the number of operations and calls in the student's code
        self._student: EditedText | None = None  # the unedited code
        self._changed: dict[int, Returned] = {}  # plausible edits' answers to the first wrong case
        self._asked: set[tuple[int, str, str]] = set()  # (case, version): two edits may give the same text
        self._judged: dict[tuple[int, int], tuple[Answer, bool]] = {}  # (case, id of the answer): whether right

    @property
    def tried(self) -> int:
        return MOST_TRIED - self._left

    @property
    def entry(self) -> str:
        return self._all.exercise.entry

    def explain(self, source: str) -> Repair | Verdict | None:
        """The most plausible repair, or else three misconceptions at once that give the student's answers.

        If the sandbox is given up, what was found until then counts.
        """
        try:
            repair = self.repair(source)
        except TrialEnded:
            repair = None
        return repair or (self._three_at_once() if self._steps >= FEWEST_STEPS else None)

    def repair(self, source: str) -> Repair | None:
        """The most plausible repair with as few edits as possible."""
        try:
            text = EditedText(StudentText(definitions_in(source)))
            self._steps, self._student = steps_in(text.text.tree), text
            return self._repair(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError, JudgingTooLong):
            return None

    def _three_at_once(self) -> Verdict | None:
        try:
            telling = self._most_telling(self._student) if self._student else None
            student = self._answers(self._student) if self._student else []
            if telling is None or not isinstance(answer := student[telling], Returned):
                return None
            # First those that show in this case: they are few.
            for among in (shown(self._all, telling), self._all.exercise.mistakes):
                likely = ThreeAtOnce(self._all, telling, self._judge.time, among).likely(
                    answer, list(self._changed.values())
                )
                if verdict := self._judge.naming(self._all, student, likely):
                    return verdict
        except (JudgingTooLong, TrialEnded):  # out of time; what was known before still holds
            pass
        return None

    def _repair(self, text: EditedText) -> Repair | None:
        telling = self._most_telling(text)
        if telling is None:  # every answer is right
            return None
        search = _Search(self, text, telling)
        found = search.right()
        if found is not None:
            without = filter(self.is_right_in_all, with_a_branch_off(found))
            return Repair(next(without, found))
        if len(text.edits) + 1 >= MOST_MISTAKES:
            return None
        for further in search.promising():
            repair = self._repair(further)
            if repair is not None:
                return repair
        return None

    def _most_telling(self, text: EditedText) -> int | None:
        """The first case with a wrong answer; None if all are right."""
        return next((index for index in self.in_order if not self.is_right(index, text)), None)

    @functools.cached_property
    def in_order(self) -> list[int]:
        """The cases, smallest first. For a class, those that show little come last: one word hides most mistakes."""
        shows = {index: self._shows.get(case.case.name, 0) for index, case in enumerate(self._cases)}
        enough = SHOWS * max(shows.values(), default=0)
        return sorted(shows, key=lambda index: (shows[index] < enough, effort(self._cases[index])))

    def versions(self, text: EditedText, telling: int, as_it_is: Answer) -> Iterator[EditedText]:
        """Versions with one more edit: slips of one word first, then what the values of expressions suggest.

        Where the code raises an error, expressions are looked at first, to find out where.
        """
        ask = functools.partial(self.ask_all, telling=telling)
        changes = edits_of(text.text, self._notebook)
        seen: dict[Span, Seen] = {}
        if isinstance(as_it_is, Raised):
            seen = look(text, as_it_is, ask)
            changes = where_it_fails_first(text.text, seen, changes)
        slips = [edit for edit in changes if edit.cost == SLIP and makes_sense(edit, seen)]
        yield from self._with_each(text, slips)
        seen = seen or look(text, as_it_is, ask)
        others = [edit for edit in changes if edit.cost != SLIP and makes_sense(edit, seen)]
        steps = steps_of(text.text, seen)
        yield from self._with_each(text, heapq.merge(others, steps, key=lambda edit: edit.cost))

    def _with_each(self, text: EditedText, edits: Iterable[Edit]) -> Iterator[EditedText]:
        for edit in edits:
            if text.undoes(edit) or (text.edits and not _is_plausible_after(text.edits, edit)):
                continue
            for fitting in self._fitting if edit.fitted else [()]:
                yield text.with_edit(edit, fitting)

    def ask_all(self, texts: Iterable[EditedText], telling: int) -> Iterator[tuple[EditedText, Answer]]:
        """Versions with their answers to one case, until the budget is used up."""
        for some in _some_at_once(self._not_asked(texts, telling), AT_ONCE):
            if self._left <= 0:
                return
            self._left -= len(some)
            answers = self._ask([version for _, version in some], self._cases[telling])
            yield from zip((text for text, _ in some), answers, strict=True)

    def _not_asked(self, texts: Iterable[EditedText], telling: int) -> Iterator[tuple[EditedText, EditedSource]]:
        for text in texts:
            version = text.in_case(telling)
            known = (telling, version.source, repr(version.lent))
            if known not in self._asked:
                self._asked.add(known)
                yield text, version

    def alike(self, text: EditedText, telling: int) -> Iterator[EditedText]:
        """The text and, where it has a number that fits, those with other numbers that are the same in this case."""
        yield text
        if not (text.before and text.edit and text.fitting):
            return
        for fitting in self._fitting:
            if fitting != text.fitting and fitting[telling] == text.fitting[telling]:
                yield text.before.with_edit(text.edit, fitting)

    def is_right_in_all(self, text: EditedText) -> bool:
        return all(self.is_right(index, text) for index in self.in_order)

    def is_right(self, index: int, text: EditedText) -> bool:
        return self.is_right_answer(index, self.answer(index, text))

    def is_right_answer(self, index: int, answer: Answer) -> bool:
        if not isinstance(answer, Returned):
            return False
        known = self._judged.get((index, id(answer)))
        if known is None:  # the answer is kept, so its identity stays its own
            right = self._judge.is_right(self._keys[index], [answer])
            known = self._judged[index, id(answer)] = (answer, right)
        return known[1]

    def note_changed(self, text: EditedText, answer: Returned) -> None:
        if len(text.edits) == 1 and text.edits[0].cost <= MOST_PLAUSIBLE and len(self._changed) < MOST_CHANGED:
            self._changed[id(answer)] = answer

    def has_a_misconception(self, text: EditedText, telling: int) -> bool:
        """Whether one misconception explains all answers of this version."""
        return self.intermediate.explain(self._answers(text), telling)

    def _answers(self, text: EditedText) -> list[Answer]:
        return [self.answer(index, text) for index in range(len(self._cases))]

    @functools.cached_property
    def intermediate(self) -> Intermediate:
        return Intermediate(self._all)

    def answer(self, index: int, text: EditedText) -> Answer:
        (answer,) = self.answers(index, [text])
        return answer

    def answers(self, index: int, texts: Iterable[EditedText]) -> list[Answer]:
        """The answers of some versions to one case."""
        some_at_once = _some_at_once((text.in_case(index) for text in texts), AT_ONCE)
        return [answer for some in some_at_once for answer in self._ask(some, self._cases[index])]


class _Search:
    """One step of the search: all versions of a text with one more edit."""

    def __init__(self, locating: Locating, text: EditedText, telling: int) -> None:
        self._locating = locating
        self._text = text
        self._telling = telling
        self._as_it_is = locating.answer(telling, text)
        self._wrong_as_known: list[EditedText] = []
        self._lost: list[EditedText] = []
        self._no_longer_stopped: list[EditedText] = []

    def right(self) -> EditedText | None:
        """The first version that is right in all cases. Versions that may be halfway there are kept."""
        versions = self._locating.versions(self._text, self._telling, self._as_it_is)
        for text, answer in self._locating.ask_all(versions, self._telling):
            if self._locating.is_right_answer(self._telling, answer):
                alike = self._locating.alike(text, self._telling)
                if (right := next(filter(self._locating.is_right_in_all, alike), None)) is not None:
                    return right
            elif isinstance(answer, Returned):
                self._note(text, answer)
                self._locating.note_changed(text, answer)
        return None

    def promising(self) -> Iterator[EditedText]:
        """Versions that may need just one more edit."""
        as_known = self._wrong_as_known[:MOST_TRIED_FURTHER]
        yield from (text for text in as_known if self._locating.has_a_misconception(text, self._telling))
        yield from self._lost[:MOST_TRIED_FURTHER]
        yield from self._no_longer_stopped[:MOST_TRIED_FURTHER]

    def _note(self, text: EditedText, answer: Returned) -> None:
        edit = text.edits[-1]
        if edit.cost > MOST_PLAUSIBLE:
            return
        if self._locating.intermediate.like(answer.value, self._telling):
            self._wrong_as_known.append(text)
        elif edit.change == Change.LOST and edit.cost == 1:
            self._lost.append(text)
        elif isinstance(self._as_it_is, Raised) and edit.cost == 1:
            self._no_longer_stopped.append(text)


def _is_plausible_after(made: Sequence[Edit], edit: Edit) -> bool:
    """Whether the edits make sense together: none removes a step that another adds elsewhere."""
    moves = edit.change == Change.MISSING and any(before.takes_away for before in made)
    return edit.cost <= MOST_PLAUSIBLE and not moves


def _some_at_once(items: Iterable[Item], count: int) -> Iterator[list[Item]]:
    left = iter(items)
    while some := list(itertools.islice(left, count)):
        yield some
