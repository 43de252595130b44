"""Find the wrong line: edit the student's code in one spot after another until every answer is right.

Edited code runs in a sandbox and is judged like the student's own. An edit that makes all answers right is the proof;
it is never shown.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from grader.facts.student_text import StudentText, definitions_in
from grader.judging.answer_key import AnswerKey
from grader.judging.fitting import effort, numbers_that_fit
from grader.judging.judge import Judge
from grader.judging.judging_time import JudgingTime, JudgingTooLong
from grader.model.answer import Answer, Raised, Returned
from grader.model.edited import AskEdited, EditedSource
from grader.model.located import Change
from grader.model.verdict import Verdict
from grader.repair.branches import with_a_branch_off
from grader.repair.edits import edits_of, stops_before
from grader.repair.three_at_once import ThreeAtOnce, shown, shown_by_case
from grader.repair.version import Version, steps_in

Item = TypeVar("Item")

MOST_TRIED = 1_800  # versions of one student's code
MOST_PLAUSIBLE = 3  # the highest cost of an edit that may remove one of three mistakes
MOST_CHANGED = 1_000  # versions whose answers are kept
FEWEST_STEPS = 5  # below, code is a stub: its answers look like those of many mistakes
AT_ONCE = 32
SHOWS = 0.7  # the first case asked must show this share of the misconceptions that the best case shows
SECONDS = 4.0  # of the judge's processor time: a last resort, since versions are counted
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


class TrialEnded(Exception):
    """The sandbox tries nothing more."""


class Locating:
    """The search through one student's code for one exercise."""

    def __init__(self, key: AnswerKey, ask: AskEdited, device: str, notebook: Sequence[str] = ()) -> None:
        """`notebook` has the names of its functions."""
        # Only numbers count here, and long cases show no mistake that short ones hide.
        self._all = key.only(key.about_numbers).without_promises()
        self._cases = self._all.cases
        self._keys = [self._all.only([index]) for index in range(len(self._cases))]
        self._ask = ask
        self._notebook = notebook
        # Worked out once per exercise, outside the time of the first student who needs it.
        self._shows = shown_by_case(self._all.exercise) if self._all.exercise.glance else {}
        self._judge = Judge(device, JudgingTime(SECONDS))
        self._left = MOST_TRIED
        self._fitting = numbers_that_fit(self._cases)
        self._changed: dict[int, Returned] = {}  # plausible edits' answers to the first wrong case
        self._asked: set[tuple[str, str]] = set()  # two edits may give the same text
        self._judged: dict[tuple[int, int], tuple[Answer, bool]] = {}  # (case, id of the answer): whether right

    @property
    def tried(self) -> int:
        return MOST_TRIED - self._left

    def explain(self, source: str) -> Version | Verdict | None:
        """The most plausible repair, or else three misconceptions at once that give the student's answers.

        If the sandbox is given up, what was found until then counts.
        """
        try:
            student = Version(StudentText(definitions_in(source)))
        except UNREADABLE:
            return None
        repair = self._repair(student)
        is_stub = steps_in(student.original.tree) < FEWEST_STEPS
        return repair if repair or is_stub else self._three_at_once(student)

    def _repair(self, student: Version) -> Version | None:
        """The most plausible version that is right in all cases."""
        try:
            telling = self._most_telling(student)
            repair = self._first_right(student, telling) if telling is not None else None
            if repair is None:
                return None
            return next(filter(self._is_right_in_all, with_a_branch_off(repair)), repair)
        except (*UNREADABLE, JudgingTooLong, TrialEnded):
            return None

    def _three_at_once(self, student: Version) -> Verdict | None:
        try:
            telling = self._most_telling(student)
            answers = [self._answer(index, student) for index in range(len(self._cases))]
            if telling is None or not isinstance(answer := answers[telling], Returned):
                return None
            # First those that show in this case: they are few.
            for among in (shown(self._all, telling), self._all.exercise.mistakes):
                likely = ThreeAtOnce(self._all, telling, self._judge.time, among).likely(
                    answer, list(self._changed.values())
                )
                if verdict := self._judge.verdict_among(self._all, answers, likely):
                    return verdict
        except (JudgingTooLong, TrialEnded):  # out of time; what was known before still holds
            pass
        return None

    def _most_telling(self, version: Version) -> int | None:
        """The first case with a wrong answer; None if all are right."""
        return next((index for index in self._in_order if not self._is_right(index, version)), None)

    @functools.cached_property
    def _in_order(self) -> list[int]:
        """The cases, smallest first. For a class, those that show little come last: one word hides most mistakes."""
        shows = {index: self._shows.get(case.case.name, 0) for index, case in enumerate(self._cases)}
        enough = SHOWS * max(shows.values(), default=0)
        return sorted(shows, key=lambda index: (shows[index] < enough, effort(self._cases[index])))

    def _first_right(self, student: Version, telling: int) -> Version | None:
        """The first version that is right in all cases. Plausible ones that are wrong may show one mistake of three."""
        for version, answer in self._ask_all(self._versions(student, telling), telling):
            if self._is_right_answer(telling, answer):
                right = next(filter(self._is_right_in_all, self._alike(version, telling)), None)
                if right is not None:
                    return right
            elif isinstance(answer, Returned):
                self._note_changed(version, answer)
        return None

    def _versions(self, student: Version, telling: int) -> Iterator[Version]:
        """Versions with an edit, the most plausible first; where the code stops with an error, none behind that."""
        unreached = self._lines_behind_an_error(student, telling)
        for edit in edits_of(student.original, self._notebook):
            if edit.change != Change.PLACE and edit.lines and unreached.issuperset(edit.lines):
                continue
            for fitting in self._fitting if edit.is_fitted else [()]:
                yield Version(student.original, edit, fitting)

    def _lines_behind_an_error(self, student: Version, telling: int) -> set[int]:
        """The lines that code never comes to: with another error right before them, it stops with its own."""
        answer = self._answer(telling, student)
        if not isinstance(answer, Raised):
            return set()
        answers = self._ask_all(
            map(functools.partial(Version, student.original), stops_before(student.original)), telling
        )
        edits = [version.edit for version, answer_of_version in answers if answer_of_version is answer]
        return {line for edit in edits if edit for line in edit.lines}

    def _ask_all(self, versions: Iterable[Version], telling: int) -> Iterator[tuple[Version, Answer]]:
        """Versions with their answers to one case, until the budget is used up."""
        for some in _some_at_once(self._not_asked(versions, telling), AT_ONCE):
            if self._left <= 0:
                return
            self._left -= len(some)
            answers = self._ask([source for _, source in some], self._cases[telling])
            yield from zip((version for version, _ in some), answers, strict=True)

    def _not_asked(self, versions: Iterable[Version], telling: int) -> Iterator[tuple[Version, EditedSource]]:
        for version in versions:
            edited = version.in_case(telling)
            known = (edited.source, repr(edited.lent))
            if known not in self._asked:
                self._asked.add(known)
                yield version, edited

    def _alike(self, version: Version, telling: int) -> Iterator[Version]:
        """The version and, where it has a number that fits, those with other numbers that are the same in this case."""
        yield version
        for fitting in self._fitting if version.fitting else ():
            if fitting != version.fitting and fitting[telling] == version.fitting[telling]:
                yield Version(version.original, version.edit, fitting)

    def _is_right_in_all(self, version: Version) -> bool:
        return all(self._is_right(index, version) for index in self._in_order)

    def _is_right(self, index: int, version: Version) -> bool:
        return self._is_right_answer(index, self._answer(index, version))

    def _is_right_answer(self, index: int, answer: Answer) -> bool:
        if not isinstance(answer, Returned):
            return False
        known = self._judged.get((index, id(answer)))
        if known is None:  # the answer is kept, so its identity stays its own
            right = self._judge.is_right(self._keys[index], [answer])
            known = self._judged[index, id(answer)] = (answer, right)
        return known[1]

    def _note_changed(self, version: Version, answer: Returned) -> None:
        is_plausible = version.edit is not None and version.edit.cost <= MOST_PLAUSIBLE
        if is_plausible and len(self._changed) < MOST_CHANGED:
            self._changed[id(answer)] = answer

    def _answer(self, index: int, version: Version) -> Answer:
        (answer,) = self._ask([version.in_case(index)], self._cases[index])
        return answer


def _some_at_once(items: Iterable[Item], count: int) -> Iterator[list[Item]]:
    left = iter(items)
    while some := list(itertools.islice(left, count)):
        yield some
