"""Find the lines in which mistakes lie: change the student's code in one spot after the other, until all is right.

What is changed is asked in a sandbox like the student's own code, and judged like it. That a change makes all answers
right is the proof. The change itself is never shown.
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
from grader.repair.edited_text import EditedText, steps_in
from grader.repair.edits import Edit, edits_of, makes_sense, spots_of, steps_of
from grader.repair.seen_values import FAILS, Seen, SeenAt, Span, asking, asking_before, seen_before, seen_in
from grader.repair.three_at_once import Intermediate, ThreeAtOnce, shown, shown_by_case

# Ask what the expressions of a student's code are in a case, and where it stops if it does.

AskAll = Callable[[Iterable[EditedText]], Iterator[tuple[EditedText, Answer]]]


def look(text: EditedText, as_it_is: Answer, ask: AskAll) -> dict[Span, Seen]:
    """What is known of its expressions in the case that `ask` asks."""
    spots = {text.text.span(node): node for node in spots_of(text.text)}
    asked = {span: asking(text.text.of(node)) for span, node in spots.items()}
    seen = _said(text, asked, ask, functools.partial(seen_in, as_it_is=as_it_is))
    if isinstance(as_it_is, Raised):
        unknown = {span: asking_before() for span in spots if span not in seen}
        seen |= _said(text, unknown, ask, functools.partial(seen_before, as_it_is=as_it_is))
    return seen


def where_it_fails_first(text: StudentText, seen: SeenAt, edits: Iterable[Edit]) -> list[Edit]:
    """Of changes that are as plausible, first those in a line that stops with an error."""
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

MOST_TRIED = 1_800  # versions of one code
SLIP = 1  # cost of a change of one word
MOST_MISTAKES = 3  # at once
MOST_PLAUSIBLE = 3  # cost of a change where there are several
MOST_TRIED_FURTHER = 3  # versions that may be a step towards what is right
MOST_CHANGED = 1_000  # versions whose answers are kept
FEWEST_STEPS = 5  # of code in which three mistakes are looked for: a stub is like many of them
AT_ONCE = 32
SHOWS = 0.7  # of the misconceptions that any case shows: so many a case must show that is asked first
SECONDS = 4.0  # of the judge's processor; a last bound, since what is tried is counted


class TrialEnded(Exception):
    """Nothing more is tried."""


@dataclass(frozen=True)
class Repair:
    """Changes which, together, make all answers right."""

    text: EditedText

    @property
    def located(self) -> tuple[Located, ...]:
        """The lines, as the student wrote them. Of two changes in one of several lines, the first is told."""
        found = {line: Located(line, change) for line, change in reversed(self.text.places)}
        if len(found) == 1 < len(self.text.edits):
            return tuple(Located(line, Change.SEVERAL) for line in found)
        return tuple(reversed(found.values()))


class Locating:
    """The search in one student's code for one exercise."""

    def __init__(self, key: AnswerKey, ask: AskEdited, device: str) -> None:
        # What is asked for beside numbers is another mistake, and long cases show none that the others do not.
        self._all = key.only(key.about_numbers).short()
        self._cases = self._all.cases
        self._keys = [self._all.only([index]) for index in range(len(self._cases))]
        self._ask = ask
        # Worked out once for each exercise, and not in the time of the one student with whom it begins.
        self._shows = shown_by_case(self._all.exercise) if self._all.exercise.glance else {}
        self._judge = Judge(device, JudgingTime(SECONDS))
        self._left = MOST_TRIED
        self._fitting = numbers_that_fit(self._cases)
        self._steps = 0  # operations and calls that it has
        self._student: EditedText | None = None  # the code as it is
        self._changed: dict[int, Returned] = {}  # what it answers to the most telling case with a plausible change
        self._asked: set[tuple[int, str, str]] = set()  # versions, by case: two ways to change may lead to the same
        self._judged: dict[tuple[int, int], tuple[Answer, bool]] = {}  # by case and identity: whether it is right

    @property
    def tried(self) -> int:
        return MOST_TRIED - self._left

    @property
    def entry(self) -> str:
        return self._all.exercise.entry

    def explain(self, source: str) -> Repair | Verdict | None:
        """The most plausible changes that make all right, or the three misconceptions of which two are left after one.

        What is known so far counts where the sandbox is given up.
        """
        try:
            repair = self.repair(source)
        except TrialEnded:
            repair = None
        return repair or (self._three_at_once() if self._steps >= FEWEST_STEPS else None)

    def repair(self, source: str) -> Repair | None:
        """The most plausible changes, as few as can be, that make all right."""
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
            # What the case shows first: these are few.
            for among in (shown(self._all, telling), self._all.exercise.mistakes):
                likely = ThreeAtOnce(self._all, telling, self._judge.time, among).likely(
                    answer, list(self._changed.values())
                )
                if verdict := self._judge.naming(self._all, student, likely):
                    return verdict
        except (JudgingTooLong, TrialEnded):  # the search has used up its time; what was known before still holds
            pass
        return None

    def _repair(self, text: EditedText) -> Repair | None:
        telling = self._most_telling(text)
        if telling is None:  # nothing is wrong with it
            return None
        search = _Search(self, text, telling)
        found = search.right()
        if found is not None:
            return Repair(found)
        if len(text.edits) + 1 >= MOST_MISTAKES:
            return None
        for further in search.promising():
            repair = self._repair(further)
            if repair is not None:
                return repair
        return None

    def _most_telling(self, text: EditedText) -> int | None:
        """The first case that the code answers wrong; None if it is right."""
        return next((index for index in self.in_order if not self.is_right(index, text)), None)

    @functools.cached_property
    def in_order(self) -> list[int]:
        """The cases, the smallest first; of a class, those that show much: a single word hides nearly all mistakes."""
        shows = {index: self._shows.get(case.case.name, 0) for index, case in enumerate(self._cases)}
        enough = SHOWS * max(shows.values(), default=0)
        return sorted(shows, key=lambda index: (shows[index] < enough, effort(self._cases[index])))

    def versions(self, text: EditedText, telling: int, as_it_is: Answer) -> Iterator[EditedText]:
        """Slips of one word first. What more there is to try depends on what expressions are, which is asked then.

        Where code stops with an error, that is asked first: then it is known where.
        """
        ask = functools.partial(self.ask_all, telling=telling)
        changes = edits_of(text.text)
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
        """What versions answer to a case, as long as more may be tried."""
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

    def is_right_in_all(self, text: EditedText) -> bool:
        return all(self.is_right(index, text) for index in self.in_order)

    def is_right(self, index: int, text: EditedText) -> bool:
        return self.is_right_answer(index, self.answer(index, text))

    def is_right_answer(self, index: int, answer: Answer) -> bool:
        if not isinstance(answer, Returned):
            return False
        known = self._judged.get((index, id(answer)))
        if known is None:  # what is kept keeps its identity
            right = self._judge.is_right(self._keys[index], [answer])
            known = self._judged[index, id(answer)] = (answer, right)
        return known[1]

    def note_changed(self, text: EditedText, answer: Returned) -> None:
        if len(text.edits) == 1 and text.edits[0].cost <= MOST_PLAUSIBLE and len(self._changed) < MOST_CHANGED:
            self._changed[id(answer)] = answer

    def has_a_misconception(self, text: EditedText, telling: int) -> bool:
        """Whether there is one that explains all answers of a version."""
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
        """What some versions answer to a case."""
        some_at_once = _some_at_once((text.in_case(index) for text in texts), AT_ONCE)
        return [answer for some in some_at_once for answer in self._ask(some, self._cases[index])]


class _Search:
    """One step of it: all versions of a text with one more change."""

    def __init__(self, locating: Locating, text: EditedText, telling: int) -> None:
        self._locating = locating
        self._text = text
        self._telling = telling
        self._as_it_is = locating.answer(telling, text)
        self._wrong_as_known: list[EditedText] = []
        self._lost: list[EditedText] = []
        self._no_longer_stopped: list[EditedText] = []

    def right(self) -> EditedText | None:
        """The first version that is right in all cases. Of others, those are noted that are a step towards it."""
        versions = self._locating.versions(self._text, self._telling, self._as_it_is)
        for text, answer in self._locating.ask_all(versions, self._telling):
            if self._locating.is_right_answer(self._telling, answer):
                if self._locating.is_right_in_all(text):
                    return text
            elif isinstance(answer, Returned):
                self._note(text, answer)
                self._locating.note_changed(text, answer)
        return None

    def promising(self) -> Iterator[EditedText]:
        """Versions with another change, that may be right with one more."""
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
    """Not what takes something away in one place and puts it in another."""
    moves = edit.change == Change.MISSING and any(before.takes_away for before in made)
    return edit.cost <= MOST_PLAUSIBLE and not moves


def _some_at_once(items: Iterable[Item], count: int) -> Iterator[list[Item]]:
    left = iter(items)
    while some := list(itertools.islice(left, count)):
        yield some
