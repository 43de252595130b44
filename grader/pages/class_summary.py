"""Work out what an instructor wants to know: what the class understood, what it did not, and whom to look at."""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from grader.gradebook.graded import Stopped
from grader.gradebook.items import Item
from grader.gradebook.standing import Standing
from grader.gradebook.standings import ClassGrades
from grader.model.answer import sentence_of
from grader.model.label import Label, as_in
from grader.model.verdict import Reason, Verdict
from grader.pages.copies import Work, identical
from grader.pages.report_lines import (
    Bin,
    Counts,
    Denied,
    ExercisePoints,
    Identical,
    LateStudent,
    MisconceptionLine,
    MistakeLine,
    Mistakes,
    OwnCodeLine,
    Points,
    StoppedCode,
    StudentLine,
    StudentMistake,
    Summary,
)
from grader.pages.sentence_groups import sentence_by_misconception
from grader.term.rules import Rule
from grader.term.times import local

BINS = 12  # at most, in the distribution of points
WIDTHS = (0.5, 1, 2, 2.5, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000)  # widths that a bin may have


def summary(grades: ClassGrades, files: Mapping[str, str] | None = None) -> Summary:
    """Summarize a class. `files` are digests of submissions."""
    everyone, graded = grades.standings, grades.graded
    titles = _titles(graded)
    empty = _select(graded, lambda standing: _is_empty(standing, grades.course_solutions))
    filled_in = [standing for standing in graded if standing.student not in empty]
    environments = {standing.result.environment for standing in graded}
    no_time: list[str] = []
    if grades.late:
        no_time = _select(graded, lambda standing: not standing.has_time and not standing.is_called_late)
    stopped: list[StoppedCode] = []
    denied: list[Denied] = []
    for standing in grades.submissions:
        stopped += _stopped(standing)
        if standing.blocked:
            denied.append(Denied(standing.student, standing.blocked))
    return Summary(
        assignment=grades.assignment,
        written=local(datetime.now(UTC), grades.zone).isoformat(timespec="seconds"),
        due=local(grades.duedate, grades.zone).isoformat() if grades.duedate else None,
        zone=grades.zone,
        environments=sorted(filter(None, environments)),
        counts=Counts(len(everyone), len(graded)),
        points=_points(grades),
        exercises=[_exercise(item, titles, graded) for item in grades.items],
        mistakes=_mistakes(filled_in, grades, titles),
        stopped=stopped,
        denied=denied,
        identical=_identical(grades, files or {}, empty),
        own_code=_own_code(everyone),
        in_process=_in_process(graded),
        late=_late(graded),
        late_rule=grades.late.words if grades.late else "",
        late_without_time=_select(graded, lambda standing: standing.is_called_late),
        no_time=no_time,
        waiting=_select(graded, lambda standing: bool(standing.waits)),
        empty=empty,
        no_submission=_select(everyone, lambda standing: not standing.has_submitted),
        no_grade=_select(everyone, lambda standing: standing.has_submitted and not standing.is_graded),
        students=[_student(standing, grades) for standing in everyone],
    )


def _select(standings: Iterable[Standing], condition: Callable[[Standing], bool]) -> list[str]:
    return [standing.student for standing in standings if condition(standing)]


def _verdicts(graded: Iterable[Standing]) -> list[Verdict]:
    return [scored.verdict for standing in graded for scored in standing.verdicts]


def _titles(graded: Iterable[Standing]) -> dict[Label | None, str]:
    return {verdict.exercise: verdict.title for verdict in _verdicts(graded) if verdict.exercise is not None}


def _is_empty(standing: Standing, course_solutions: Mapping[Label, Sequence[str]]) -> bool:
    """Whether nothing was filled in, or nothing can be read. Such a notebook would be in every list of mistakes.

    Missing functions are not enough: cells may be filled in with other names, or with code that does not run. An
    unreadable file becomes a notebook without these cells, or with blank ones.
    """
    reasons = {scored.verdict.reason for scored in standing.verdicts}
    if not reasons or not reasons <= {Reason.TO_DO, Reason.MISSING}:
        return False
    if reasons == {Reason.TO_DO}:
        return True
    for exercise, source in standing.solutions.items():
        empty_sources = ("", *course_solutions.get(exercise, ()))
        if source.split() not in [empty.split() for empty in empty_sources]:
            return False
    return True


def _in_process(graded: Iterable[Standing]) -> list[str]:
    return list(dict.fromkeys(verdict.label for verdict in _verdicts(graded) if verdict.in_process))


def _bin_width(max_points: float) -> float:
    """A round number that goes into the points at most BINS times."""
    for width in WIDTHS:
        if max_points / width <= BINS:
            return width
    return math.ceil(max_points / BINS)


def _points(grades: ClassGrades) -> Points:
    """The points of a class and their distribution. Points above the maximum go into the last bin."""
    max_points = grades.max_points
    totals = [standing.total for standing in grades.graded if not standing.waits]
    open_totals = [standing.total for standing in grades.graded if standing.waits]
    width = _bin_width(max_points) if max_points else 1.0
    count = max(1, math.ceil(max_points / width))
    students = Counter(min(count - 1, int(total / width)) for total in totals)
    waiting = Counter(min(count - 1, int(total / width)) for total in open_totals)
    quarters = statistics.quantiles(totals, n=4, method="inclusive") if len(totals) > 1 else totals * 3
    bins = [Bin(index * width, (index + 1) * width, students[index], waiting[index]) for index in range(count)]
    return Points(
        max=max_points,
        max_without_rules=grades.without_rules,
        final=len(totals),
        mean=round(statistics.mean(totals), 2) if totals else None,
        median=round(quarters[1], 2) if totals else None,
        middle_half=(round(quarters[0], 2), round(quarters[2], 2)) if totals else None,
        full_marks=sum(total >= max_points for total in totals),
        distribution=bins,
    )


def _exercise(item: Item, titles: Mapping[Label | None, str], graded: Sequence[Standing]) -> ExercisePoints:
    """How well an exercise was understood, whether it counts or not."""
    points = [standing.raw.get(item.cell, 0.0) for standing in graded if item.cell not in standing.waits]
    full = sum(earned >= item.max_points for earned in points)
    none = sum(earned <= 0 < item.max_points for earned in points)
    return ExercisePoints(
        exercise=item.label,
        title=titles.get(item.exercise, ""),
        max_points=item.max_points,
        full_marks=full,
        some_points=len(points) - full - none,
        no_points=none,
        waiting=len(graded) - len(points),
        share_of_full_marks=round(full / len(points), 4) if points else None,
        mean_points=round(statistics.mean(points), 2) if points else None,
        rule=item.rule.words if item.rule else "",
    )


def _valid_verdicts(standing: Standing, items: Sequence[Item]) -> list[Verdict]:
    """The verdicts that still hold. Where a person gave full marks, or has yet to look, nothing counts as wrong."""
    overruled: set[Label] = set()
    for item in items:
        has_full_marks = standing.raw.get(item.cell, 0.0) >= item.max_points > 0
        if item.cell in standing.waits or has_full_marks:
            overruled.add(item.exercise or item.name)
    verdicts = [scored.verdict for scored in standing.verdicts]
    return [verdict for verdict in verdicts if verdict.right or (verdict.exercise or verdict.title) not in overruled]


@dataclass
class _ExerciseMistakes:
    """Who made which mistakes in an exercise, and what they read."""

    students: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))  # by misconception
    others: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))  # students by kind of mistake
    sentences: dict[str, str] = field(default_factory=dict)  # by misconception, where it was the only one
    sentences_beside: dict[str, str] = field(default_factory=dict)  # the same where there were several
    examples: dict[str, str] = field(default_factory=dict)  # the shortest code with a mistake
    released_lines: Collection[str] = ()

    def add(self, student: str, verdict: Verdict, code: str) -> None:
        for name in verdict.misconceptions:
            self._add(self.students, name, student, code)
        for function in verdict.functions.values() or [verdict]:
            sentences = self.sentences if len(function.misconceptions) == 1 else self.sentences_beside
            sentences.update(sentence_by_misconception(function))
        if not verdict.misconceptions and not verdict.right:
            kind = f"{verdict.title}: {verdict.reason}" if verdict.in_process else verdict.reason
            self._add(self.others, kind, student, code)

    def _add(self, students: Mapping[str, list[str]], name: str, student: str, code: str) -> None:
        students[name].append(student)
        lines = [line for line in code.splitlines() if not line.lstrip().startswith("#")]  # these may have a name
        example = "\n".join(lines).strip("\n")
        if example.strip():
            self.examples[name] = min(self.examples.get(name, example), example, key=len)

    def lines(self, exercise: Label | None, title: str) -> Mistakes:
        sentences = self.sentences_beside | self.sentences
        misconceptions = [
            MisconceptionLine(*self._line(name, students), says=sentences.get(name, ""))
            for name, students in _most_frequent_first(self.students)
        ]
        other_mistakes = [
            MistakeLine(*self._line(name, students)) for name, students in _most_frequent_first(self.others)
        ]
        return Mistakes(exercise, title, misconceptions, other_mistakes)

    def _line(self, name: str, students: Sequence[str]) -> tuple[str, int, Sequence[str], str, str]:
        example = self.examples.get(name, "")
        lines = [line.strip() for line in example.splitlines() if line not in self.released_lines]
        return name, len(students), students, example, next(filter(None, lines), "")


def _mistakes(graded: Sequence[Standing], grades: ClassGrades, titles: Mapping[Label | None, str]) -> list[Mistakes]:
    mistakes: dict[Label | None, _ExerciseMistakes] = defaultdict(
        lambda: _ExerciseMistakes(released_lines=grades.released_lines)
    )
    for standing in graded:
        for verdict in _valid_verdicts(standing, grades.items):
            if verdict.misconceptions or not verdict.right:
                code = standing.solutions.get(verdict.exercise, "") if verdict.exercise is not None else ""
                mistakes[verdict.exercise].add(standing.student, verdict, code)
    exercises = as_in([item.exercise for item in grades.items], mistakes)
    return [mistakes[exercise].lines(exercise, titles.get(exercise, "")) for exercise in exercises]


def _most_frequent_first(mistakes: Mapping[str, Sequence[str]]) -> list[tuple[str, list[str]]]:
    """The mistakes, and the students who made them, each once."""
    students_of = {str(name): list(dict.fromkeys(students)) for name, students in mistakes.items()}
    return sorted(students_of.items(), key=lambda mistake: (-len(mistake[1]), mistake[0]))


def _stopped(standing: Standing) -> list[StoppedCode]:
    """Code that stopped in hidden cases or in a cell, each once even if both its cell and its verdict report it."""
    stops: dict[Stopped, None] = {}  # in this order
    for scored in standing.verdicts:
        for verdict in scored.verdict.functions.values() or [scored.verdict]:
            if verdict.lost:
                stops[Stopped(verdict.exercise, verdict.lost)] = None
    stops |= dict.fromkeys(standing.stopped)
    lines = []
    for stop in stops:
        kind = "timeout" if stop.lost.loss.is_timeout else "crash"
        lines.append(StoppedCode(standing.student, stop.exercise, kind, said=sentence_of(stop.lost)))
    return lines


def _identical(grades: ClassGrades, files: Mapping[str, str], empty: Collection[str]) -> list[Identical]:
    works = {}
    for standing in grades.submissions:
        file = "" if standing.student in empty else files.get(standing.student, "")
        works[standing.student] = Work(standing.solutions, standing.result.words, file)
    return identical(works, grades.course_solutions, grades.course_words, grades.released_lines)


def _late(graded: Sequence[Standing]) -> list[LateStudent]:
    late = sorted((standing for standing in graded if standing.late_by), key=lambda standing: -standing.late_by)
    return [
        LateStudent(standing.student, round(standing.late_by.total_seconds()), standing.penalty) for standing in late
    ]


def _student(standing: Standing, grades: ClassGrades) -> StudentLine:
    has_grade = standing.is_graded
    waiting = grades.waiting.get(standing.student, ())
    if waiting:
        status = "waiting"
    elif has_grade:
        status = "graded"
    else:
        status = "no grade" if standing.has_submitted else "no submission"
    misconceptions: list[StudentMistake] = []
    for verdict in _valid_verdicts(standing, grades.items):
        misconceptions += [StudentMistake(verdict.exercise, name) for name in verdict.misconceptions]
    return StudentLine(
        student=standing.student,
        last_name=standing.person.last_name,
        first_name=standing.person.first_name,
        status=status,
        points=round(standing.total, 2) if has_grade else None,
        penalty=standing.penalty,
        seconds_late=round(standing.late_by.total_seconds()),
        exercises={item.label: _counted_points(standing, item) for item in grades.items} if has_grade else {},
        waiting=waiting,
        misconceptions=misconceptions,
        hand_in=standing.attempt,
        own_code=standing.own_code.words if standing.own_code else "",
    )


def _own_code(everyone: Iterable[Standing]) -> list[OwnCodeLine]:
    """Who answered how many questions about their own code right: first those who have answered all of them."""
    students: dict[str, list[str]] = defaultdict(list)
    ranks: dict[str, tuple[bool, int, int]] = {}
    for standing in everyone:
        own_code = standing.own_code
        if own_code:
            students[own_code.words].append(standing.student)
            ranks[own_code.words] = not own_code.questions, own_code.unanswered, -own_code.right
    return [OwnCodeLine(words, students[words]) for words in sorted(students, key=lambda words: ranks[words])]


def _counted_points(standing: Standing, item: Item) -> float | None:
    """The points that count; None if the item is void, or waits for points from a person."""
    if item.rule is Rule.VOID or item.cell in standing.waits:
        return None
    return standing.counted.points.get(item.cell, 0.0)
