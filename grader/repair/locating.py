"""Find the wrong line: edit the student's code in one location after another until every answer is right.

Edited code runs in a sandbox and is judged like the student's own. An edit that makes all answers right is the proof;
it is never shown.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from grader.facts.student_text import StudentText, definitions_in
from grader.judging.answer_key import AnswerKey
from grader.judging.fitting import effort, numbers_that_fit
from grader.judging.judge import Judge
from grader.judging.judging_time import JudgingTime, JudgingTooLong
from grader.model.answer import Answer, Raised, Returned
from grader.model.change import Change
from grader.model.edited import AskEdited, EditedSource
from grader.model.verdict import Verdict
from grader.repair.branches import with_a_branch_off
from grader.repair.edits import edits_of, stops_before
from grader.repair.three_at_once import ThreeAtOnce, count_shown_by_case, shown_misconceptions
from grader.repair.version import Version, steps_in

Item = TypeVar("Item")

MOST_TRIED = 1_800  # versions of one student's code
MOST_PLAUSIBLE = 3  # the highest cost of an edit that may remove one of three mistakes
MOST_PLAUSIBLE_ANSWERS = 1_000  # that are kept
FEWEST_STEPS = 5  # below, code is a stub: its answers look like those of many mistakes
BATCH = 32  # versions that are asked at once
SHOWS = 0.7  # the first case asked must show this share of the misconceptions that the best case shows
SECONDS = 4.0  # of the judge's processor time: a last resort, since versions are counted
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


class TrialEnded(Exception):
    """The sandbox tries nothing more."""


@dataclass(frozen=True)
class _AnsweredVersion:
    """A version of the student's code, and its answer to the case that is asked first."""

    version: Version
    answer: Answer


class LineSearch:
    """The search through one student's code for one exercise."""

    def __init__(self, key: AnswerKey, ask: AskEdited, device: str, notebook: Sequence[str] = ()) -> None:
        """`notebook` has the names of its functions."""
        # Only numbers count here, and long cases show no mistake that short ones hide.
        self._key = key.only(key.about_numbers).without_promises()
        self._cases = self._key.cases
        self._case_keys = [self._key.only([index]) for index in range(len(self._cases))]
        self._ask = ask
        self._notebook = notebook
        # Worked out once per exercise, outside the time of the first student who needs it.
        self._shown = count_shown_by_case(self._key.exercise) if self._key.exercise.glance else {}
        self._judge = Judge(device, JudgingTime(SECONDS))
        self._budget = MOST_TRIED
        self._fitting_numbers = numbers_that_fit(self._cases)
        self._plausible_answers: dict[int, Returned] = {}  # of plausible edits to the first wrong case, by identity
        self._asked: set[tuple[str, str]] = set()  # two edits may give the same text
        self._judged: dict[tuple[int, int], tuple[Answer, bool]] = {}  # (case, id of the answer): whether right

    @property
    def tried(self) -> int:
        return MOST_TRIED - self._budget

    def explain(self, source: str) -> Version | Verdict | None:
        """The most plausible repair, or else three misconceptions at once that give the student's answers.

        If the sandbox is given up, what was found until then counts.
        """
        try:
            student = Version(StudentText(definitions_in(source)))
        except UNREADABLE:
            return None
        repair = self._find_repair(student)
        is_stub = steps_in(student.original.tree) < FEWEST_STEPS
        return repair if repair or is_stub else self._name_three(student)

    def _find_repair(self, student: Version) -> Version | None:
        """The most plausible version that is right in all cases."""
        try:
            first_wrong = self._find_first_wrong(student)
            repair = self._find_first_right(student, first_wrong) if first_wrong is not None else None
            if repair is None:
                return None
            return next(filter(self._is_right_in_all, with_a_branch_off(repair)), repair)
        except (*UNREADABLE, JudgingTooLong, TrialEnded):
            return None

    def _name_three(self, student: Version) -> Verdict | None:
        """The verdict that names three misconceptions, or two of them."""
        exercise = self._key.exercise
        try:
            first_wrong = self._find_first_wrong(student)
            answers = [self._answer(index, student) for index in range(len(self._cases))]
            answer = answers[first_wrong] if first_wrong is not None else None
            if first_wrong is None or not isinstance(answer, Returned):
                return None
            # First those that show in this case: they are few.
            for candidates in (shown_misconceptions(self._key, first_wrong), exercise.mistakes):
                three = ThreeAtOnce(self._key, first_wrong, self._judge.time, candidates)
                hypotheses = three.hypotheses(answer, list(self._plausible_answers.values()))
                verdict = self._judge.verdict_among(self._key, answers, hypotheses)
                if verdict:
                    return verdict
        except (JudgingTooLong, TrialEnded):  # out of time; what was known before still holds
            pass
        return None

    def _find_first_wrong(self, version: Version) -> int | None:
        """The first case with a wrong answer; None if all are right."""
        return next((index for index in self._order if not self._is_right(index, version)), None)

    @functools.cached_property
    def _order(self) -> list[int]:
        """The cases, smallest first. For a class, those that show little come last: one word hides most mistakes."""
        counts = [self._shown.get(case.case.name, 0) for case in self._cases]
        enough = SHOWS * max(counts, default=0)
        return sorted(range(len(counts)), key=lambda index: (counts[index] < enough, effort(self._cases[index])))

    def _find_first_right(self, student: Version, first_wrong: int) -> Version | None:
        """The first version that is right in all cases. Plausible ones that are wrong may show one mistake of three."""
        for answered in self._ask_all(self._versions(student, first_wrong), first_wrong):
            version, answer = answered.version, answered.answer
            if self._is_right_answer(first_wrong, answer):
                same_here = self._with_other_numbers(version, first_wrong)
                repair = next(filter(self._is_right_in_all, same_here), None)
                if repair is not None:
                    return repair
            elif isinstance(answer, Returned) and len(self._plausible_answers) < MOST_PLAUSIBLE_ANSWERS:
                is_plausible = version.edit is not None and version.edit.cost <= MOST_PLAUSIBLE
                if is_plausible:
                    self._plausible_answers[id(answer)] = answer
        return None

    def _versions(self, student: Version, first_wrong: int) -> Iterator[Version]:
        """Versions with an edit, the most plausible first; where the code stops with an error, none behind that."""
        unreached_lines = self._lines_behind_error(student, first_wrong)
        for edit in edits_of(student.original, self._notebook):
            if edit.change != Change.PLACE and edit.lines and unreached_lines.issuperset(edit.lines):
                continue
            for numbers in self._fitting_numbers if edit.is_fitted else [()]:
                yield Version(student.original, edit, numbers)

    def _lines_behind_error(self, student: Version, first_wrong: int) -> set[int]:
        """The lines that code never comes to: with another error right before them, it stops with its own."""
        answer = self._answer(first_wrong, student)
        lines: set[int] = set()
        if isinstance(answer, Raised):
            stopped = (Version(student.original, edit) for edit in stops_before(student.original))
            for answered in self._ask_all(stopped, first_wrong):
                if answered.answer is answer and answered.version.edit:
                    lines.update(answered.version.edit.lines)
        return lines

    def _ask_all(self, versions: Iterable[Version], index: int) -> Iterator[_AnsweredVersion]:
        """Versions with their answers to one case, until the budget is used up."""
        for batch in _batches(self._drop_asked(versions, index), BATCH):
            if self._budget <= 0:
                return
            self._budget -= len(batch)
            answers = self._ask([source for _, source in batch], self._cases[index])
            for (version, _), answer in zip(batch, answers, strict=True):
                yield _AnsweredVersion(version, answer)

    def _drop_asked(self, versions: Iterable[Version], index: int) -> Iterator[tuple[Version, EditedSource]]:
        for version in versions:
            edited = version.in_case(index)
            text = (edited.source, repr(edited.lent))
            if text not in self._asked:
                self._asked.add(text)
                yield version, edited

    def _with_other_numbers(self, version: Version, index: int) -> Iterator[Version]:
        """The version and, where it has a number that fits, those with other numbers that are the same in this case."""
        yield version
        for numbers in self._fitting_numbers if version.fitting else ():
            if numbers != version.fitting and numbers[index] == version.fitting[index]:
                yield Version(version.original, version.edit, numbers)

    def _is_right_in_all(self, version: Version) -> bool:
        return all(self._is_right(index, version) for index in self._order)

    def _is_right(self, index: int, version: Version) -> bool:
        return self._is_right_answer(index, self._answer(index, version))

    def _is_right_answer(self, index: int, answer: Answer) -> bool:
        if not isinstance(answer, Returned):
            return False
        key = (index, id(answer))
        if key not in self._judged:  # the answer is kept, so its identity stays its own
            self._judged[key] = (answer, self._judge.is_right(self._case_keys[index], [answer]))
        return self._judged[key][1]

    def _answer(self, index: int, version: Version) -> Answer:
        (answer,) = self._ask([version.in_case(index)], self._cases[index])
        return answer


def _batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    iterator = iter(items)
    batch = list(itertools.islice(iterator, size))
    while batch:
        yield batch
        batch = list(itertools.islice(iterator, size))
